#!/usr/bin/env bash
# fuzz.sh [TIME]            runs every fuzz target of the module for TIME (default 30s).
# fuzz.sh --total SECONDS   runs targets for ten seconds each until SECONDS have passed, others every day. SEED repeats
#                           the choice of a day.
#
# The go tool accepts only one target at a time.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

time=${1:-30s} total=
if [ "$time" = --total ]; then
  time=10s total=${2?fuzz.sh: --total needs a number of seconds}
fi

# targets: the packages and names of all targets, one a line.
targets() {
  grep -rHoE --include='*_test.go' '^func Fuzz[A-Za-z0-9_]+' . | sed -E 's|^(.*)/[^/]*:func (.*)|\1 \2|' | sort -u
}

# in_order SEED: its input, in an order that depends on the seed.
in_order() {
  while read -r line; do
    printf '%s %s\n' "$(printf '%s %s' "$1" "$line" | cksum | cut -d ' ' -f 1)" "$line"
  done | sort -n | cut -d ' ' -f 2-
}

# run PACKAGE TARGET: fuzzes one target. On a busy machine, the go tool also fails when the time ends in the middle of an input; a
# finding has a failing input.
run() {
  local out
  out=$(go test -vet=off -run '^$' -fuzz "^$2\$" -fuzztime "$time" "$1" 2>&1 </dev/null) && printf '%s\n' "$out" && return
  printf '%s\n' "$out"
  grep -q 'context deadline exceeded' <<<"$out" && ! grep -qE 'Failing input|panic|minimiz' <<<"$out"
}

list=$(targets)
if [ -n "$total" ]; then
  SEED=${SEED:-$(date -u +%F)}
  echo "The order is that of SEED=$SEED."
  list=$(in_order "$SEED" <<<"$list")
fi
failed=0 count=0
# Compiling the targets counts: the time is that of the whole check.
while read -r package target; do
  if [ -n "$total" ] && [ "$SECONDS" -ge "$total" ]; then
    break
  fi
  echo "== $package $target"
  run "$package" "$target" || failed=1
  count=$((count + 1))
done <<<"$list"
echo "$count fuzz targets ran."
[ "$count" -gt 0 ]
exit $failed
