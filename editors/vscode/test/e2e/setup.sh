#!/usr/bin/env bash
# setup.sh: installs what the scenarios run in, Node.js, code-server and a driver for
# Chromium, and prints the directory. Needs npm; as root on Debian it installs Chromium
# when there is none.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=scripts/retry.sh
. "$here/../../../../scripts/retry.sh"
tree=${XDG_CACHE_HOME:-$HOME/.cache}/xcsh-ls/vscode

if ! command -v chromium >/dev/null; then
  if [ "$(id -u)" -ne 0 ]; then
    echo 'Install the package chromium.' >&2
    exit 1
  fi
  install_chromium() {
    apt-get -qq update && apt-get -qq install -y --no-install-recommends chromium
  }
  retry install_chromium >&2
fi

mkdir -p "$tree"
# Two at the same time would remove each other's files.
exec 9<"$tree"
if command -v flock >/dev/null; then flock 9; fi
if ! cmp -s "$here/package-lock.json" "$tree/installed.json"; then
  cp "$here/package.json" "$here/package-lock.json" "$tree/"
  # The scripts of code-server compile for minutes and need libraries; nothing here does.
  (
    cd "$tree"
    retry npm ci --no-audit --no-fund --ignore-scripts --loglevel=error
    cd node_modules/code-server/lib/vscode
    retry npm install --no-audit --no-fund --ignore-scripts --omit=dev --loglevel=error
    # Its terminals need a module that is not compiled for Linux; here it is.
    cp -R "$tree"/node_modules/@lydell/node-pty-linux-*/prebuilds/. node_modules/node-pty/prebuilds/
  ) >&2
  cp "$here/package-lock.json" "$tree/installed.json"
fi
echo "$tree"
