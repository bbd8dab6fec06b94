#!/usr/bin/env bash
# stylua.sh [--check]: formats the Lua files, or fails when they are not formatted. StyLua is
# WebAssembly from npm and kept below $XDG_CACHE_HOME/xcsh-ls.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=scripts/versions.env
. scripts/versions.env
# shellcheck source=scripts/retry.sh
. scripts/retry.sh
cache=${XDG_CACHE_HOME:-${HOME:+$HOME/.cache}}
dir=${cache:-$PWD/.cache}/xcsh-ls/stylua-$STYLUA_VERSION
if [ ! -d "$dir/node_modules/@johnnymorganz/stylua" ]; then
  mkdir -p "$dir"
  if ! retry npm --prefix "$dir" install --no-save --no-audit --no-fund --ignore-scripts --loglevel=error "@johnnymorganz/stylua@$STYLUA_VERSION"; then
    echo "StyLua could not be installed with npm, so the format of the Lua files is unchecked." >&2
    exit 1
  fi
fi
STYLUA_DIR=$dir exec node scripts/stylua.mjs editors/neovim "$@"
