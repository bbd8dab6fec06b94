#!/usr/bin/env bash
# The feature with its default options. "devcontainer features test" runs this in a container, and install_test.sh with an
# installation below PREFIX.
set -e
# shellcheck source=/dev/null
source dev-container-features-test-lib
root=${PREFIX:-}
agent=$root/var/lib/xcsh-ls/agent

check "the program starts" xcsh-ls version
check "the directory of the sessions is named" test "$PI_CODING_AGENT_DIR" = "$agent"
check "only the user reads the sessions" test "$(stat -c '%a %U' "$agent")" = "700 $(id -un)"
check "a turn needs no key" xcsh-ls run --model offline/demo hello
check "its session is on the volume" bash -c "compgen -G '$agent/sessions/*/*.jsonl'"
check "it is listed" bash -c "xcsh-ls list | grep hello"
check "completions" test -s "$root/usr/local/share/bash-completion/completions/xcsh-ls"
check "without a team nothing is sent" env -u XCSH_TEAM_URL -u PGSERVICE -u PGHOST "$root/usr/local/share/xcsh-ls/team-start"

reportResults
