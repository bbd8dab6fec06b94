#!/usr/bin/env bash
# install.sh [pi]: puts the programs to compare with into bench/peers/node_modules, or
# only pi, which is all that the tests of bench/differential need. No install script of
# any package is run. What is there in the right version already is kept. What cannot
# be installed is said, and then missing from the tables; nothing is made up for it.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")" || exit 1
npm=(npm --no-audit --no-fund --loglevel=error)
failed=0

config() { node -p "require('./package.json').config.$1"; }

missing() {
  echo "not installed: $1" >&2
  failed=1
}

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
  if [ "$(node -p "require('./node_modules/$1/package.json').version" 2>/dev/null)" = "$2" ]; then
    return 0
  fi
  mkdir -p "$(dirname "node_modules/$1")"
  # Beside its place, so that a half unpacked package never stands there.
  work=$(mktemp -d node_modules/.unpack.XXXXXX)
  tar=$("${npm[@]}" pack --silent --pack-destination "$work" "$1@$2") &&
    mkdir "$work/package" && tar -xzf "$work/$tar" -C "$work/package" --strip-components=1 &&
    rm -rf "node_modules/$1" && mv "$work/package" "node_modules/$1"
  local status=$?
  rm -rf "$work"
  return $status
}

# runs_pi NODE: it is of a version that pi can be loaded with.
runs_pi() {
  "$1" -e 'const [a, b] = process.versions.node.split(".").map(Number); process.exit(a > 22 || (a === 22 && b >= 19) ? 0 : 1)' 2>/dev/null
}

if [ "${1:-}" != pi ]; then
  # First, because npm removes what it did not install itself.
  "${npm[@]}" install --ignore-scripts --omit=optional --no-package-lock || missing omp
  # omp's own code in machine language, which --omit=optional left out with much else.
  unpack "@oh-my-pi/pi-natives-$os-$node_arch" "$(node -p "require('./package.json').dependencies['@oh-my-pi/pi-coding-agent']")" || missing "omp's addon"
  unpack "@oven/bun-$os-$bun_arch" "$(config bun)" || missing "bun (the one on PATH is used)"
fi
if [ "${1:-}" != pi ] || ! runs_pi node; then
  unpack "node-$os-$node_arch" "$(config node)" || missing "node (the one on PATH is used)"
fi
chmod +x node_modules/node-*/bin/node node_modules/@oven/bun-*/bin/bun 2>/dev/null

# pi is shipped as a bundle that holds its dependencies, of which some were never
# published in this version; so it is unpacked and not installed.
unpack @earendil-works/pi-coding-agent "$(config pi)" || missing pi

node=node_modules/node-$os-$node_arch/bin/node
if [ -x "$node" ] && ! runs_pi "$node"; then
  missing "a Node.js that runs here ($("$node" --version 2>&1 | tail -n 1)); on Debian it may lack the package libatomic1"
fi
exit $failed
