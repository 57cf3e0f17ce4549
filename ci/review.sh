#!/usr/bin/env bash
# ci/review.sh BASE HEAD [WORK]: prune two releases (or trees) and review the second against the first.
#
# RULES, JOBS, TREE (where the repository keeps the tree; findings are placed there) and REVIEW (more options of
# `prune review`) come from the environment. WORK (default: build/review) gets base/, head/, comment.md, prune.sarif,
# annotations.txt and `decision`: commit, look or stop. The exit code is the head's: 0 commit, 1 look (findings or a
# passed limit), 2 cannot run, 3 the checks refuted it; then comment.md says what they refuted.
# `decision` says stop until the last line has run, so that nothing is proposed after a crash.
set -uo pipefail
base=$1 head=$2 work=${3:-build/review}
read -ra prune <<< "${PRUNE:-prune}"
rules=${RULES:-rules/cuda_only.yaml}
mkdir -p "$work"
rm -rf "$work/base" "$work/head" "$work/comment.md" "$work/prune.sarif" "$work/annotations.txt"
echo stop > "$work/decision"

run() { # NAME UPSTREAM
    "${prune[@]}" --rules "$rules" --upstream "$2" --output "$work/$1/generated" --reports "$work/$1/reports" \
        ${JOBS:+-j "$JOBS"} 2>&1 | tee "$work/$1.log"
    return "${PIPESTATUS[0]}"
}

mkdir -p "$work/base" "$work/head"
run base "$base"
code=$?
if [ "$code" -ge 2 ]; then
    echo "the base, $base, cannot be pruned (exit code $code)" >&2
    exit 2
fi
run head "$head"
pruned=$?
if [ "$pruned" -eq 2 ] || [ "$pruned" -gt 3 ]; then
    echo "the head, $head, cannot be pruned (exit code $pruned)" >&2
    exit 2
fi
reports=$work/head/reports
[ "$pruned" -ne 3 ] || reports=$reports.refuted # what was refuted is reported beside the place of good trees
# shellcheck disable=SC2086  # REVIEW holds several words
"${prune[@]}" review --base "$work/base/reports" --reports "$reports" --markdown "$work/comment.md" \
    --sarif "$work/prune.sarif" ${TREE:+--tree "$TREE"} --rule-files "$(dirname "$rules")" --annotations ${REVIEW:-} \
    > "$work/annotations.txt"
reviewed=$?
cat "$work/annotations.txt"
if [ "$pruned" -eq 3 ] || [ "$reviewed" -eq 3 ]; then
    exit 3
fi
case $reviewed in
    0) echo commit > "$work/decision" ;;
    1) echo look > "$work/decision" ;;
    *) exit 2 ;;
esac
exit "$reviewed"
