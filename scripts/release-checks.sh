#!/usr/bin/env bash
# release-checks.sh [--no-tests]: builds the parts of a release in dist, except the container image, and checks them: the
# packages, with lintian and rpmlint, and the contents of all files, with the tests of scripts/artefacts, which --no-tests
# leaves out. The program must be reproducible. It publishes and signs nothing.
#
# It needs what "make vsix" and "make release-snapshot" need, and Debian's packages lintian, rpm and rpmlint.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# seconds COMMAND...: runs a command and prints the time that it took.
seconds() {
  local start=$SECONDS
  "$@"
  echo "-- $((SECONDS - start)) s: $1"
}

XCSH_VERSION=$(scripts/release-version.sh)
export XCSH_VERSION

seconds scripts/vsix.sh
seconds scripts/release-snapshot.sh
# A build in another directory, with an empty cache, gives the same program.
seconds scripts/reproducible.sh --like dist/release/xcsh-ls_"$(go env GOOS)_$(go env GOARCH)"*/xcsh-ls
# Newer versions of lintian may warn about more. The packager writes the field Architecture-Variant, which older ones don't know.
seconds lintian --fail-on error --suppress-tags unknown-field dist/release/*.deb
# rpmlint unpacks packages with cpio, which would install their absolute paths on this machine.
unpacking=$(mktemp -d)
trap 'rm -rf "$unpacking"' EXIT
printf '#!/bin/sh\nexec %s --no-absolute-filenames "$@"\n' "$(command -v cpio)" >"$unpacking/cpio"
chmod 755 "$unpacking/cpio"
PATH=$unpacking:$PATH seconds rpmlint --config scripts/rpmlint.toml dist/release/*.rpm
if [ "${1-}" != --no-tests ]; then
  seconds go test -count=1 -tags artefacts ./scripts/artefacts
fi
