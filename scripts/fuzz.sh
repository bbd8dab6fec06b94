#!/usr/bin/env bash
# fuzz.sh [TIME]: runs every fuzz target of the module for TIME (default 30s).
# The go tool accepts only one target at a time.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

time=${1:-30s}
failed=0
for package in $(go list ./...); do
  for target in $(go test -list '^Fuzz' "$package" | grep '^Fuzz' || true); do
    echo "== $package $target"
    go test -run '^$' -fuzz "^$target\$" -fuzztime "$time" "$package" || failed=1
  done
done
exit $failed
