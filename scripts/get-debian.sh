#!/usr/bin/env bash
# get-debian.sh PACKAGE PROGRAM SUITE DEST
#
# Unpacks a package of a Debian suite (trixie, forky, sid …) with everything it
# needs below DEST and makes its program runnable as DEST/bin/PROGRAM. Nothing is
# installed, the system's package state is neither read nor written, and root is
# not needed. Packages come from the mirrors this machine already uses and must
# carry Debian's signature. A program that is already there and runs is kept.
set -euo pipefail

die() {
  echo "get-debian: $*" >&2
  exit 1
}

[ $# -eq 4 ] || die "usage: get-debian.sh PACKAGE PROGRAM SUITE DEST"
package=$1 program=$2 suite=$3
mkdir -p "$(dirname "$4")"
dest=$(cd "$(dirname "$4")" && pwd)/$(basename "$4")

runs() { "$1/bin/$program" --version >/dev/null 2>&1; }
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
# No package counts as installed, so that apt resolves the whole closure down to libc.
: >"$work/status"

# apt itself reads the machine's sources, whichever format they are in. Only
# "update --print-uris" names them before the first "apt-get update".
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

found=
while read -r mirror; do
  echo "deb [signed-by=$keyring] $mirror $suite main" >"$work/sources.list"
  if private_apt update >"$work/update.log" 2>&1; then
    found=$mirror
    break
  fi
  sed "s|^|get-debian: $mirror: |" "$work/update.log" >&2
done < <(mirrors)
[ -n "$found" ] || die "no mirror in this machine's apt sources has the suite $suite"

echo "get-debian: unpacking $package of $suite from $found" >&2
private_apt -y --no-install-recommends --download-only install "$package" >"$work/install.log" 2>&1 ||
  die "cannot download $package of $suite: $(cat "$work/install.log")"

tree=$work/tree
mkdir "$tree"
for archive in "$work"/cache/archives/*.deb; do
  dpkg-deb -x "$archive" "$tree"
done
# Neovim looks for its runtime and parsers next to the running executable, which
# is the loader here; so the loader moves to where the program is.
loader=$(find "$tree/usr" -name 'ld-linux*.so.*' -print -quit)
cp -L "$loader" "$tree/usr/bin/$program-loader"
mkdir -p "$tree/bin"
cat >"$tree/bin/$program" <<'WRAPPER'
#!/bin/sh
# Starts this tree's program with this tree's loader and libraries, because the
# machine's own libc may be older. Its children see the machine's.
program=$(basename "$0")
tree=$(cd "$(dirname "$0")/.." && pwd)
# Helix finds its runtime by this variable only; to others it means nothing.
export HELIX_RUNTIME="$tree/usr/lib/hx/runtime"
exec "$tree/usr/bin/$program-loader" --library-path "$(echo "$tree"/usr/lib/*-linux-gnu*)" \
  "$tree/usr/bin/$program" "$@"
WRAPPER
chmod 755 "$tree/bin/$program"
runs "$tree" || die "$package of $suite was unpacked but does not start: $("$tree/bin/$program" --version 2>&1 | sed -n 1,3p)"

rm -rf "$dest"
mv "$tree" "$dest"
