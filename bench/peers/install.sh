#!/usr/bin/env bash
# install.sh: puts the programs to compare with into bench/peers/node_modules. No
# install script of any package is run. What cannot be installed is said, and then
# missing from the tables; nothing is made up for it.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")" || exit 1
npm=(npm --no-audit --no-fund --loglevel=error)
failed=0

config() { node -p "require('./package.json').config.$1"; }

missing() {
  echo "not installed: $1" >&2
  failed=1
}

"${npm[@]}" install --ignore-scripts --omit=optional --no-package-lock || missing omp

# The runtimes: packages that only hold the binary, since those named node and bun
# fetch it in an install script.
os=$(uname -s | tr '[:upper:]' '[:lower:]')
case $(uname -m) in
  x86_64) node_arch=x64 bun_arch=x64 ;;
  *) node_arch=arm64 bun_arch=aarch64 ;;
esac
# unpack PACKAGE VERSION: a package without its dependencies.
unpack() {
  local work tar
  work=$(mktemp -d)
  tar=$("${npm[@]}" pack --silent --pack-destination "$work" "$1@$2") || { rm -rf "$work"; return 1; }
  rm -rf "node_modules/$1"
  mkdir -p "node_modules/$1"
  tar -xzf "$work/$tar" -C "node_modules/$1" --strip-components=1
  local status=$?
  rm -rf "$work"
  return $status
}
unpack "node-$os-$node_arch" "$(config node)" || missing "node (the one on PATH is used)"
# omp's own code in machine language, which --omit=optional left out with much else.
unpack "@oh-my-pi/pi-natives-$os-$node_arch" "$(node -p "require('./package.json').dependencies['@oh-my-pi/pi-coding-agent']")" || missing "omp's addon"
unpack "@oven/bun-$os-$bun_arch" "$(config bun)" || missing "bun (the one on PATH is used)"
chmod +x node_modules/node-*/bin/node node_modules/@oven/bun-*/bin/bun 2>/dev/null

# pi is shipped as a bundle that holds its dependencies, of which some were never
# published in this version; so it is unpacked and not installed.
unpack @earendil-works/pi-coding-agent "$(config pi)" || missing pi
exit $failed
