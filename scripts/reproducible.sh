#!/usr/bin/env bash
# reproducible.sh [--release | --like PROGRAM] [GOOS/GOARCH...]: builds the program twice and fails if the
# results differ. Each build uses a separate copy of the working tree, in a directory with a
# different name, and an empty build cache.
#
#   GOOS/GOARCH  target; default: this machine
#   --release    build a complete release snapshot twice instead, and compare all files
#   --like       build once, and compare with the program for this machine that a release snapshot of this tree has
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

version=reproducible like=
if [ "${1-}" = --like ]; then
  like=$(sha256sum <"$2" | cut -d ' ' -f 1) version=$(scripts/release-version.sh)
  shift 2
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Both builds start from one copy, because the tree may change during the run.
mkdir "$work/source"
git ls-files -z --cached --others --exclude-standard | while IFS= read -r -d '' file; do
  if [ -e "$file" ]; then printf '%s\0' "$file"; fi
done | tar --null -cf - -T - | tar -xf - -C "$work/source"

# build TURN TARGET...: prints the checksum and the name of each program.
build() {
  local turn=$1 target
  shift
  for target; do
    (cd "$work/$turn-tree" && GOCACHE=$work/cache CGO_ENABLED=0 GOOS=${target%/*} GOARCH=${target#*/} \
      go build -trimpath -buildvcs=false -ldflags "-s -w -X main.version=$version" -o "$work/program" ./cmd/xcsh-ls)
    echo "$(sha256sum <"$work/program" | cut -d ' ' -f 1)  $target"
  done
  rm -rf "$work/cache"
}

# release TURN: prints the checksum and the name of each file that would be published.
# goreleaser's own files contain the time of the run and are excluded.
release() {
  cp -R .git "$work/$1-tree/.git"
  "$work/$1-tree/scripts/release-snapshot.sh" >"$work/log" 2>&1 || { cat "$work/log" >&2 && exit 1; }
  (cd "$work/$1-tree/dist/release" && find . -type f ! -name artifacts.json ! -name metadata.json ! -name config.yaml -print0 |
    sort -z | xargs -0 sha256sum)
}

if [ -n "$like" ]; then
  mv "$work/source" "$work/only-tree"
  target=$(go env GOOS)/$(go env GOARCH)
  built=$(build only "$target")
  if [ "$built" != "$like  $target" ]; then
    echo "reproducible.sh: the program of the release has the checksum $like, another build $built" >&2
    exit 1
  fi
  echo "$built"
  exit 0
fi

for turn in first second; do
  cp -R "$work/source" "$work/$turn-tree"
  if [ "${1-}" = --release ]; then
    release "$turn" >"$work/$turn"
  elif [ $# -gt 0 ]; then
    build "$turn" "$@" >"$work/$turn"
  else
    build "$turn" "$(go env GOOS)/$(go env GOARCH)" >"$work/$turn"
  fi
  rm -rf "$work/$turn-tree"
done
diff "$work/first" "$work/second" || { echo 'reproducible.sh: the two builds differ' >&2 && exit 1; }
cat "$work/first"
