#!/usr/bin/env bash
# release-completions.sh DIRECTORY: writes the shell completions of xcsh-ls for archives and
# packages.
set -euo pipefail
mkdir -p "$1"
directory=$(cd "$1" && pwd)
cd "$(dirname "${BASH_SOURCE[0]}")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Build for this machine, regardless of the release's target.
env -u GOOS -u GOARCH go build -buildvcs=false -o "$work/xcsh-ls" ./cmd/xcsh-ls
"$work/xcsh-ls" completion bash >"$directory/xcsh-ls"
"$work/xcsh-ls" completion zsh >"$directory/_xcsh-ls"
"$work/xcsh-ls" completion fish >"$directory/xcsh-ls.fish"
