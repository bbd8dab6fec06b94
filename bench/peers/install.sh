#!/usr/bin/env bash
# install.sh [pi|engines]: installs programs in bench/peers/node_modules. Without an argument those
# for comparison, pi and omp. "pi" is only pi, which is sufficient for most tests of bench/differential.
# "engines" adds to pi and omp the agents that answer in the tests: Claude Code, Codex, Gemini CLI and
# opencode. It runs no install scripts of packages and keeps packages that have the right version. It
# reports programs that it can't install; the result tables omit them.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")" || exit 1
# shellcheck source=scripts/retry.sh
. ../../scripts/retry.sh
what=${1:-compare}
npm=(retry npm --no-audit --no-fund --loglevel=error)
failed=0

config() { node -p "require('./package.json').config.$1"; }

# installed PACKAGE: its version, or nothing.
installed() { node -p "require('./node_modules/$1/package.json').version" 2>/dev/null; }

missing() {
  echo "not installed: $1" >&2
  failed=1
}

# The runtimes: packages that contain only the binary, because the packages node and bun
# download it in an install script.
os=$(uname -s | tr '[:upper:]' '[:lower:]')
case $(uname -m) in
  x86_64) arch=x64 bun_arch=x64 ;;
  *) arch=arm64 bun_arch=aarch64 ;;
esac

# unpack PACKAGE VERSION [SOURCE]: a package without its dependencies, published as SOURCE if that is
# another name.
unpack() {
  local work tar
  if [ "$(installed "$1")" = "$2" ]; then
    return 0
  fi
  mkdir -p "$(dirname "node_modules/$1")"
  # Unpack next to the target, so that the target is never incomplete.
  work=$(mktemp -d node_modules/.unpack.XXXXXX)
  tar=$("${npm[@]}" pack --silent --pack-destination "$work" "${3:-$1}@$2") &&
    mkdir "$work/package" && tar -xzf "$work/$tar" -C "$work/package" --strip-components=1 &&
    rm -rf "node_modules/$1" && mv "$work/package" "node_modules/$1"
  local status=$?
  rm -rf "$work"
  return $status
}

# dependencies installs those of package.json. npm writes its list last, and removes every package that is
# not in it, so that it is not run when all are there.
dependencies() {
  node -e '
    const want = require("./package.json").dependencies;
    const have = require("./node_modules/.package-lock.json").packages;
    process.exit(Object.keys(want).every((name) => have[`node_modules/${name}`]?.version === want[name]) ? 0 : 1);
  ' 2>/dev/null || "${npm[@]}" install --ignore-scripts --omit=optional --no-package-lock
}

# runs_pi NODE: reports whether this version can load pi.
runs_pi() {
  "$1" -e 'const [a, b] = process.versions.node.split(".").map(Number); process.exit(a > 22 || (a === 22 && b >= 19) ? 0 : 1)' 2>/dev/null
}

if [ "$what" != pi ]; then
  dependencies || missing "omp and the agents"
  # omp's native code, which --omit=optional omitted together with other packages.
  unpack "@oh-my-pi/pi-natives-$os-$arch" "$(installed @oh-my-pi/pi-coding-agent)" || missing "omp's addon"
  unpack "@oven/bun-$os-$bun_arch" "$(config bun)" || missing "bun (the one on PATH is used)"
fi
if [ "$what" = engines ]; then
  # Each agent is a program for one system, beside a package that finds it.
  unpack "@anthropic-ai/claude-agent-sdk-$os-$arch" "$(installed @anthropic-ai/claude-agent-sdk)" || missing "Claude Code"
  unpack "@openai/codex-$os-$arch" "$(installed @openai/codex)-$os-$arch" @openai/codex || missing "Codex"
  unpack "opencode-$os-$arch" "$(config opencode)" || missing opencode
  unpack @google/gemini-cli "$(config gemini)" || missing "Gemini CLI" # a bundle
fi
if [ "$what" != pi ] || ! runs_pi node; then
  unpack "node-$os-$arch" "$(config node)" || missing "node (the one on PATH is used)"
fi
chmod +x node_modules/node-*/bin/node node_modules/@oven/bun-*/bin/bun 2>/dev/null

# pi is distributed as a bundle with its dependencies, some of which were never published
# in this version, so it is unpacked and not installed.
unpack @earendil-works/pi-coding-agent "$(config pi)" || missing pi

# The one dependency that the bundle lacks: pi loads extensions with it.
unpack jiti "$(node -p "require('./node_modules/@earendil-works/pi-coding-agent/package.json').dependencies.jiti")" || missing "jiti, so pi loads no extensions"

node=node_modules/node-$os-$arch/bin/node
if [ -x "$node" ] && ! runs_pi "$node"; then
  missing "a Node.js that runs here ($("$node" --version 2>&1 | tail -n 1)); on Debian it may lack the package libatomic1"
fi
exit $failed
