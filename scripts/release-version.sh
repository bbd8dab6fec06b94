#!/usr/bin/env bash
# release-version.sh: prints the version of a release that is built from this commit. A commit with a tag vX has the
# version X; every other one that of the next patch with its hash, such as 1.2.4-dev.g0123abc. The g keeps a hash
# of digits from being a number. XCSH_VERSION replaces it, so that everything in one run has the same version.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
if [ -n "${XCSH_VERSION-}" ]; then
  echo "$XCSH_VERSION"
  exit 0
fi
changed=
git diff --quiet HEAD || changed=.dirty
if [ -z "$changed" ] && tag=$(git describe --tags --exact-match --match 'v*' 2>/dev/null); then
  echo "${tag#v}"
  exit 0
fi
last=$(git describe --tags --abbrev=0 --match 'v*' 2>/dev/null || echo v0.0.0)
last=${last#v} && last=${last%%-*}
echo "${last%.*}.$((${last##*.} + 1))-dev.g$(git rev-parse --short HEAD)$changed"
