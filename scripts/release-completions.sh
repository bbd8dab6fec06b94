#!/usr/bin/env bash
# release-completions.sh DIRECTORY: writes what shells complete xcsh-ls with, as archives and
# packages have it.
set -euo pipefail
mkdir -p "$1"
directory=$(cd "$1" && pwd)
cd "$(dirname "${BASH_SOURCE[0]}")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# For the machine this runs on, whatever the release is for.
env -u GOOS -u GOARCH go build -buildvcs=false -o "$work/xcsh-ls" ./cmd/xcsh-ls
"$work/xcsh-ls" completion bash >"$directory/xcsh-ls"
"$work/xcsh-ls" completion zsh >"$directory/_xcsh-ls"
"$work/xcsh-ls" completion fish >"$directory/xcsh-ls.fish"
