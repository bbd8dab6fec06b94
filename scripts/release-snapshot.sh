#!/usr/bin/env bash
# release-snapshot.sh: builds a release in dist/release without publishing it, except for the
# container image, which requires Docker. Requires Go and git, and a network only to download
# Go modules.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=scripts/versions.env
. scripts/versions.env
# Without a remote, goreleaser ignores the commit, whose date the files get.
if [ -z "$(git remote)" ]; then
  export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=remote.origin.url GIT_CONFIG_VALUE_0=https://github.com/xcsh-ls/xcsh-ls.git
fi
exec go run "github.com/goreleaser/goreleaser/v2@$GORELEASER_VERSION" release --snapshot --clean --skip=docker,announce,publish
