#!/usr/bin/env bash
# release-files.sh DIRECTORY VERSION TIME: writes the files of archives and packages that are not in the
# repository: shell completions, manual pages, and the copyright and changelog of packages. TIME (RFC 3339) is that of the release.
set -euo pipefail
version=$2 time=$3
mkdir -p "$1/completions" "$1/man"
directory=$(cd "$1" && pwd)
cd "$(dirname "${BASH_SOURCE[0]}")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Build for this machine, regardless of the release's target.
env -u GOOS -u GOARCH go build -buildvcs=false -tags man -o "$work/xcsh-ls" ./cmd/xcsh-ls
"$work/xcsh-ls" completion bash >"$directory/completions/xcsh-ls"
"$work/xcsh-ls" completion zsh >"$directory/completions/_xcsh-ls"
"$work/xcsh-ls" completion fish >"$directory/completions/xcsh-ls.fish"
"$work/xcsh-ls" completion powershell >"$directory/completions/xcsh-ls.ps1"
rm -f "$directory"/man/*
XCSH_MAN_DATE=${time%%T*} "$work/xcsh-ls" man "$directory/man"
gzip -n -9 -k "$directory"/man/*.1

# Debian calls this licence Expat. In its format, a space begins the lines of a text, and a dot stands for an empty one.
awk '
  BEGIN {
    print "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/"
    print "Upstream-Name: xcsh-ls"
    print "Source: https://github.com/xcsh-ls/xcsh-ls"
    print "Comment: The program contains software by others. Its licences are in"
    print " /usr/share/doc/xcsh-ls/THIRD_PARTY_NOTICES.txt."
    print ""
    print "Files: *"
  }
  /^Copyright \(c\) / { sub(/^Copyright \(c\) /, ""); print "Copyright: " $0; print "License: Expat"; text = 1; next }
  text { if (text++ > 1) print $0 == "" ? " ." : " " $0 }
' LICENSE >"$directory/copyright"

# CHANGELOG.md is too long for a package manager to show.
cat >"$directory/changelog.yaml" <<END
- semver: $version
  date: $time
  packager: The xcsh-ls authors <xcsh-ls@users.noreply.github.com>
  deb: { urgency: low, distributions: [stable] }
  changes:
    - note: "See https://github.com/xcsh-ls/xcsh-ls/blob/main/CHANGELOG.md"
END
