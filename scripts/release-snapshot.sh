#!/usr/bin/env bash
# release-snapshot.sh: builds a release in dist/release without publishing or signing it, except for the
# container image, which requires Docker. Requires Go and git, and a network only to download
# Go modules.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=scripts/versions.env
. scripts/versions.env
# shellcheck source=scripts/retry.sh
. scripts/retry.sh
XCSH_VERSION=$(scripts/release-version.sh)
export XCSH_VERSION
# Without a remote, goreleaser ignores the commit, whose date the files get.
if [ -z "$(git remote)" ]; then
  count=${GIT_CONFIG_COUNT:-0}
  export GIT_CONFIG_COUNT=$((count + 1)) "GIT_CONFIG_KEY_$count=remote.origin.url" "GIT_CONFIG_VALUE_$count=https://github.com/xcsh-ls/xcsh-ls.git"
fi
goreleaser=(go run "github.com/goreleaser/goreleaser/v2@$GORELEASER_VERSION")
retry "${goreleaser[@]}" --version >/dev/null # downloads its modules
"${goreleaser[@]}" check
exec "${goreleaser[@]}" release --snapshot --clean --skip=docker,sign,announce,publish
