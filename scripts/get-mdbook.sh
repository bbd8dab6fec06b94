#!/usr/bin/env bash
# get-mdbook.sh DEST
#
# Unpacks mdBook of Debian forky into DEST, as get-debian.sh does, so that it runs as DEST/bin/mdbook-here with
# absolute paths. Debian's mdBook reads its icons below /usr/share, where they are only if the package is installed. In
# a copy of the program, this path is replaced by one of the same length that leads into DEST.
set -euo pipefail
[ $# -eq 1 ] || { echo "usage: get-mdbook.sh DEST" >&2 && exit 1; }
"$(dirname "${BASH_SOURCE[0]}")/get-debian.sh" mdbook mdbook forky "$1"
cd "$1"
icons=/usr/share/nodejs/@fortawesome/fontawesome-free/svgs
here=usr/${icons#/usr}
LC_ALL=C sed "s|$icons|$here|" usr/bin/mdbook >usr/bin/mdbook-here
if ! grep -qF "$here" usr/bin/mdbook-here || ! [ -d "$here" ]; then
  echo "get-mdbook: Debian's mdBook has its icons elsewhere" >&2
  exit 1
fi
chmod 755 usr/bin/mdbook-here
cat >bin/mdbook-here <<'WRAPPER'
#!/bin/sh
cd "$(dirname "$0")/.." || exit
exec usr/bin/mdbook-loader --library-path "$(echo usr/lib/*-linux-gnu*)" usr/bin/mdbook-here "$@"
WRAPPER
chmod 755 bin/mdbook-here
bin/mdbook-here --version
