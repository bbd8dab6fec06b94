#!/usr/bin/env bash
# get-helix.sh SUITE DEST
#
# Unpacks the Helix of a Debian suite (forky, sid …) with everything it needs below DEST and makes
# it runnable as DEST/bin/hx, in the way of scripts/get-neovim.sh: nothing is installed, root is
# not needed, packages come from this machine's mirrors with Debian's signature. A Helix that is
# already there and runs is kept.
set -euo pipefail

die() {
  echo "get-helix: $*" >&2
  exit 1
}

[ $# -eq 2 ] || die "usage: get-helix.sh SUITE DEST"
suite=$1
mkdir -p "$(dirname "$2")"
dest=$(cd "$(dirname "$2")" && pwd)/$(basename "$2")

runs() { "$1/bin/hx" --version >/dev/null 2>&1; }
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
  sed "s|^|get-helix: $mirror: |" "$work/update.log" >&2
done < <(mirrors)
[ -n "$found" ] || die "no mirror in this machine's apt sources has the suite $suite"

echo "get-helix: unpacking Helix of $suite from $found" >&2
private_apt -y --no-install-recommends --download-only install hx >"$work/install.log" 2>&1 ||
  die "cannot download Helix of $suite: $(cat "$work/install.log")"

tree=$work/tree
mkdir "$tree"
for package in "$work"/cache/archives/*.deb; do
  dpkg-deb -x "$package" "$tree"
done
loader=$(find "$tree/usr" -name 'ld-linux*.so.*' | head -n 1)
cp -L "$loader" "$tree/usr/bin/hx-loader"
mkdir -p "$tree/bin"
cat >"$tree/bin/hx" <<'WRAPPER'
#!/bin/sh
# Starts this tree's Helix with this tree's loader and libraries, because the machine's own
# libc may be older. Children of Helix see the machine's.
tree=$(cd "$(dirname "$0")/.." && pwd)
export HELIX_RUNTIME="$tree/usr/lib/hx/runtime"
exec "$tree/usr/bin/hx-loader" --library-path "$(echo "$tree"/usr/lib/*-linux-gnu*)" "$tree/usr/bin/hx" "$@"
WRAPPER
chmod 755 "$tree/bin/hx"
runs "$tree" || die "Helix of $suite was unpacked but does not start: $("$tree/bin/hx" --version 2>&1 | head -n 3)"

rm -rf "$dest"
mv "$tree" "$dest"
