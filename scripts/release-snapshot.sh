#!/usr/bin/env bash
# release-snapshot.sh: makes everything a release has into dist/release, for this machine to
# look at, and publishes nothing. The image is left out: it needs Docker. Needs Go and git; the
# network only for Go modules that are not there yet.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=scripts/versions.env
. scripts/versions.env
# Without a remote goreleaser takes no notice of the commit, whose date the files have.
if [ -z "$(git remote)" ]; then
  export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=remote.origin.url GIT_CONFIG_VALUE_0=https://github.com/xcsh-ls/xcsh-ls.git
fi
exec go run "github.com/goreleaser/goreleaser/v2@$GORELEASER_VERSION" release --snapshot --clean --skip=docker,announce,publish
