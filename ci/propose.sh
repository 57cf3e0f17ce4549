#!/usr/bin/env bash
# ci/propose.sh WORK TREE BRANCH TITLE: put what ci/review.sh made into TREE of this repository, on BRANCH, as one commit.
#
# Does nothing, with exit code 3, unless the review decided `commit` or `look` and the reports hold no refuted check.
set -euo pipefail
work=$1 tree=$2 branch=$3 title=$4
decision=$(cat "$work/decision" 2> /dev/null || echo stop)
if [ "$decision" != commit ] && [ "$decision" != look ]; then
    echo "the review decided: $decision; nothing is committed" >&2
    exit 3
fi
if [ ! -f "$work/head/generated/PRUNED.json" ] || grep -q '"result": "refuted"' "$work/head/reports/report.json"; then
    echo "the tree was refuted or is missing; nothing is committed" >&2
    exit 3
fi
git checkout -q -B "$branch"
mkdir -p "$tree"
find "$tree" -mindepth 1 -delete
cp -a "$work/head/generated/." "$tree/"
git add -A -f -- "$tree"
[ ! -f upstream/lock.toml ] || git add -- upstream/lock.toml
if git diff --cached --quiet; then
    echo "nothing changed" >&2
    exit 0
fi
git commit -q -m "$title" -m "Made by prune; the review: $decision."
