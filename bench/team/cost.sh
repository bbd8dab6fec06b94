#!/usr/bin/env bash
# cost.sh: the cost of the team's store for a user who has none, compared with "-tags noteam": the size of the program, the time of
# "version", and the anonymous memory of an idle server. Linux only. It prints rows for bench/README.md, and fails above the limits.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
cache=$(go env GOCACHE)
GOMODCACHE=$(go env GOMODCACHE)
export GOMODCACHE
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
rounds=${1:-60}
export HOME=$work/home XCSH_LS_NO_DETECT=1 GOFLAGS=-buildvcs=false
unset XCSH_TEAM_URL XCSH_TEAM_SERVICE PGSERVICE PGHOST
mkdir "$HOME"

export GOCACHE=$cache

go build -trimpath -ldflags '-s -w' -o "$work/with" ./cmd/xcsh-ls
go build -trimpath -ldflags '-s -w' -tags noteam -o "$work/without" ./cmd/xcsh-ls

# median FILE: the middle of numbers, one a line.
median() { sort -n "$1" | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }

# idle PROGRAM: RssAnon in kB of a server that has answered initialize.
idle() {
  local body='{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"processId":null,"capabilities":{},"workspaceFolders":null}}'
  mkfifo "$work/in" "$work/out"
  "$1" --stdio <"$work/in" >"$work/out" 2>/dev/null &
  local pid=$!
  exec 7>"$work/in" 8<"$work/out"
  printf 'Content-Length: %d\r\n\r\n%s' "${#body}" "$body" >&7
  IFS= read -r -u 8 _
  awk '/^RssAnon/ { print $2 }' "/proc/$pid/status"
  exec 7>&- 8<&-
  wait "$pid" || true
  rm "$work/in" "$work/out"
}

for ((i = 0; i < rounds; i++)); do
  for p in with without; do
    start=$(date +%s%N)
    "$work/$p" version >/dev/null
    echo $((($(date +%s%N) - start) / 1000)) >>"$work/$p.time"
  done
done
for ((i = 0; i < 9; i++)); do
  for p in with without; do idle "$work/$p" >>"$work/$p.memory"; done
done

size() { stat -c %s "$work/$1"; }
percent=$(awk -v a="$(size with)" -v b="$(size without)" 'BEGIN { printf "%.1f", (a / b - 1) * 100 }')
echo "| | with | \`-tags noteam\` |"
echo "|---|---|---|"
echo "| size of the program | $(size with) bytes (+$percent %) | $(size without) bytes |"
echo "| \`version\`, median of $rounds | $(median "$work/with.time") µs | $(median "$work/without.time") µs |"
echo "| RssAnon of an idle server, median of 9 | $(median "$work/with.memory") kB | $(median "$work/without.memory") kB |"
awk -v p="$percent" 'BEGIN { exit !(p <= 10) }' || { echo "the program is more than 10 % larger" >&2; exit 1; }
