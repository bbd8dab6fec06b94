#!/usr/bin/env bash
# run.sh NVIM SERVER [NAME]
#
#   REQUIRE_ALL  fails if the tests of the real pi cannot run, which are skipped otherwise
#
# Runs tests/*_test.lua (or only NAME_test.lua) in the given Neovim against the
# given xcsh-ls. Go builds the program that plays pi. Every file gets its own process, home and XDG directories; the
# user's settings are not read. Prints "ok N name" or "not ok N name" per test; the
# last line is "N passed, N failed".
set -uo pipefail

if [ $# -lt 2 ]; then
  echo "usage: run.sh NVIM SERVER [NAME]" >&2
  exit 2
fi
if ! nvim=$(command -v "$1"); then
  echo "run.sh: there is no Neovim at $1" >&2
  exit 2
fi
if ! server=$(realpath -e "$2" 2>/dev/null); then
  echo "run.sh: there is no server at $2" >&2
  exit 2
fi
only=${3:-*}
tests=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

work=$(mktemp -d)
# A server ends a moment after its editor, and until then it writes.
trap 'for _ in $(seq 100); do rm -rf "$work" 2>/dev/null && break; sleep 0.1; done' EXIT
passed=0
failed=0

pi=$work/pi
if [ "$only" = '*' ] || [ "$only" = pi ]; then
  (cd "$tests/../../.." && go build -buildvcs=false -o "$pi" ./agent/engine/enginetest/double) || exit 2
fi

# The real pi, with a Node.js that it runs on.
peers=$tests/../../../bench/peers/node_modules
real_pi=$(realpath -e "$peers/@earendil-works/pi-coding-agent/dist/bundle/cli.js" 2>/dev/null)
node=$(realpath -e "$peers"/node-*/bin/node 2>/dev/null | head -n 1)
node=${node:-$(command -v node)}

for file in "$tests"/${only}_test.lua; do
  name=$(basename "$file" .lua)
  if [ "$name" = real_pi_test ] && { [ -z "$real_pi" ] || [ -z "$node" ]; }; then
    if [ -z "${REQUIRE_ALL-}" ]; then
      echo "# skipped $name: pi is not installed; run bench/peers/install.sh pi"
      continue
    fi
    failed=$((failed + 1))
    echo "not ok $((passed + failed)) $name: pi is not installed; run bench/peers/install.sh pi"
    continue
  fi
  home=$work/$name
  mkdir -p "$home/run"
  chmod 700 "$home/run"
  echo "# $name"
  # The tests wait on conditions with a limit of their own; this one is for a
  # Neovim that hangs.
  env -i PATH="$PATH" LANG=C.UTF-8 TERM=dumb TMPDIR="$home" HOME="$home" \
    XDG_CONFIG_HOME="$home/config" XDG_DATA_HOME="$home/data" XDG_STATE_HOME="$home/state" \
    XDG_CACHE_HOME="$home/cache" XDG_RUNTIME_DIR="$home/run" \
    XCSH_LS_NO_DETECT=1 XCSH_TEST_WAIT="${XCSH_TEST_WAIT:-20000}" XCSH_TEST_NVIM="$nvim" XCSH_TEST_SERVER="$server" XCSH_TEST_PI="$pi" XCSH_TEST_REAL_PI="$real_pi" XCSH_TEST_NODE="$node" XCSH_TEST_FIRST=$((passed + failed + 1)) \
    timeout 300 "$nvim" --headless -n -i NONE -u "$tests/init.lua" \
    -c "lua require('runner').main([[$file]])" </dev/null 2>"$work/err" | tee "$work/out"
  status=${PIPESTATUS[0]}
  ok=$(grep -c '^ok ' "$work/out")
  bad=$(grep -c '^not ok ' "$work/out")
  # A process that died did not report all of its tests.
  if ! grep -q '^# done$' "$work/out"; then
    bad=$((bad + 1))
    echo "not ok $((passed + failed + ok + bad)) $name ended early with status $status"
  fi
  if [ "$bad" -gt 0 ]; then
    awk '{ print "  stderr: " $0 }' "$work/err"
  fi
  passed=$((passed + ok))
  failed=$((failed + bad))
done

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
