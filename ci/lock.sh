#!/usr/bin/env bash
# ci/lock.sh VERSION: fetch a release and add its row to upstream/lock.toml, unless it is there.
#
# The digest is that of the download: compare it with the index's own before you merge the change.
set -euo pipefail
read -ra prune <<< "${PRUNE:-prune}"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
"${prune[@]}" fetch --unlocked "$1" > /dev/null 2> "$log" || { cat "$log" >&2; exit 2; }
if grep -q '^\[\[release\]\]' "$log"; then
    { echo; sed -n '/^\[\[release\]\]/,$p' "$log"; } >> upstream/lock.toml
fi
