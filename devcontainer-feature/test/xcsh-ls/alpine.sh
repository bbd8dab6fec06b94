#!/usr/bin/env bash
# musl, and a user who is not root.
set -e
# shellcheck source=/dev/null
source dev-container-features-test-lib
agent=${PREFIX:-}/var/lib/xcsh-ls/agent

check "the program starts" xcsh-ls version
check "only the user reads the sessions" test "$(stat -c '%a %U' "$agent")" = "700 $(id -un)"
check "a turn needs no key" xcsh-ls run --model offline/demo hello

reportResults
