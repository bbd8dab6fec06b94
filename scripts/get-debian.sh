#!/usr/bin/env bash
# get-debian.sh PACKAGE PROGRAM SUITE DEST
#
# Unpacks a package of a Debian suite (trixie, forky, sid …) with its dependencies
# into DEST, so that its program runs as DEST/bin/PROGRAM. Nothing is installed, the
# system's package state is neither read nor written, and root is not required.
# Packages come from the mirrors that this machine already uses and must have
# Debian's signature. An existing program that runs is kept.
#
# With - as PROGRAM nothing runs: DEST is the root directory of a small system, for chroot. PACKAGE may then be
# several names.
set -euo pipefail

die() {
  echo "get-debian: $*" >&2
  exit 1
}

[ $# -eq 4 ] || die "usage: get-debian.sh PACKAGE PROGRAM SUITE DEST"
package=$1 program=$2 suite=$3
mkdir -p "$(dirname "$4")"
dest=$(cd "$(dirname "$4")" && pwd)/$(basename "$4")

complete=.get-debian # names the packages of a tree that is complete
runs() {
  if [ "$program" = - ]; then
    [ "$(cat "$1/$complete" 2>/dev/null)" = "$suite: $package" ]
  else
    "$1/bin/$program" --version >/dev/null 2>&1
  fi
}
if runs "$dest"; then
  exit 0
fi

for tool in apt-get dpkg-deb; do
  command -v "$tool" >/dev/null || die "$tool is missing; this script needs a Debian machine"
done
keyring=
for file in /usr/share/keyrings/debian-archive-keyring.{gpg,pgp}; do
  if [ -r "$file" ]; then keyring=$file; fi
done
[ -n "$keyring" ] || die "Debian's keyring is missing; install the package debian-archive-keyring"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/lists/partial" "$work/cache/archives/partial"
# Treat no package as installed, so that apt resolves all dependencies down to libc.
: >"$work/status"

# apt reads the machine's sources in any format. Only "update --print-uris" lists them
# before the first "apt-get update".
mirrors() {
  apt-get -o Debug::NoLocking=1 --print-uris update |
    sed -nE "s|^'(.*)/dists/[^/]+/InRelease'.*|\1|p" | grep -v security | sort -u
}

private_apt() {
  apt-get -qq \
    -o Dir::Etc::sourcelist="$work/sources.list" -o Dir::Etc::sourceparts=- \
    -o Dir::State="$work" -o Dir::State::status="$work/status" -o Dir::Cache="$work/cache" \
    -o Debug::NoLocking=1 -o APT::Sandbox::User= -o APT::Update::Error-Mode=any \
    -o Acquire::Retries=3 -o Acquire::Languages=none \
    -o Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false "$@"
}

# download MIRROR: downloads the package and its dependencies.
download() {
  echo "deb [signed-by=$keyring] $1 $suite main" >"$work/sources.list"
  # shellcheck disable=SC2086 # it can be several packages
  private_apt update && private_apt -y --no-install-recommends --download-only install $package
}

# During an update, a mirror's lists and packages may not match.
found=
for wait in 0 5 20 60; do
  sleep "$wait"
  while read -r mirror; do
    if download "$mirror" >"$work/download.log" 2>&1; then
      found=$mirror
      break 2
    fi
    sed "s|^|get-debian: $mirror: |" "$work/download.log" >&2
  done < <(mirrors)
done
[ -n "$found" ] || die "cannot download $package of $suite from any mirror in this machine's apt sources"
echo "get-debian: unpacking $package of $suite from $found" >&2

tree=$work/tree
mkdir "$tree"
for archive in "$work"/cache/archives/*.deb; do
  dpkg-deb -x "$archive" "$tree"
done
if [ "$program" = - ]; then
  echo "$suite: $package" >"$tree/$complete"
  rm -rf "$dest"
  mv "$tree" "$dest"
  exit 0
fi
# Neovim looks for its runtime and parsers next to the running executable, which is
# the loader here, so the loader is placed next to the program.
loader=$(find "$tree/usr" -name 'ld-linux*.so.*' -print -quit)
cp -L "$loader" "$tree/usr/bin/$program-loader"
mkdir -p "$tree/bin"
cat >"$tree/bin/$program" <<'WRAPPER'
#!/bin/sh
# Starts the program with the loader and libraries of this tree, because the machine's
# libc may be older. Child processes use the machine's libraries.
program=$(basename "$0")
tree=$(cd "$(dirname "$0")/.." && pwd)
# Only Helix uses this variable, to find its runtime.
export HELIX_RUNTIME="$tree/usr/lib/hx/runtime"
exec "$tree/usr/bin/$program-loader" --library-path "$(echo "$tree"/usr/lib/*-linux-gnu*)" \
  "$tree/usr/bin/$program" "$@"
WRAPPER
chmod 755 "$tree/bin/$program"
runs "$tree" || die "$package of $suite was unpacked but does not start: $("$tree/bin/$program" --version 2>&1 | sed -n 1,3p)"

rm -rf "$dest"
mv "$tree" "$dest"
