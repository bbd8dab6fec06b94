#!/usr/bin/env bash
# picture.sh NVIM SERVER: creates docs/images/neovim-chat.png from a screen of the tests.
# Requires Chromium and pngquant.
set -euo pipefail
screen=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
images=$screen/../../../../docs/images

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
PICTURES=$work "$screen/run.sh" "$1" "$2"
node "$screen/picture.mjs" "$work/asking.ansi" "$work/chat.png"
pngquant --strip --speed 1 --force --output "$images/neovim-chat.png" 64 "$work/chat.png"
