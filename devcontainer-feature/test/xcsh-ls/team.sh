#!/usr/bin/env bash
# The options of a team are variables of login shells, which those of the user precede.
set -e
# shellcheck source=/dev/null
source dev-container-features-test-lib
profile=${PREFIX:-}/etc/profile.d/xcsh-ls-team.sh

check "the options" env -u XCSH_TEAM -u XCSH_TEAM_SERVICE sh -c ". '$profile' && test \"\$XCSH_TEAM_SERVICE/\$XCSH_TEAM\" = 'xcsh/core team'"
check "the user's own" env XCSH_TEAM=mine XCSH_TEAM_SERVICE=own sh -c ". '$profile' && test \"\$XCSH_TEAM_SERVICE/\$XCSH_TEAM\" = own/mine"

reportResults
