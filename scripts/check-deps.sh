#!/usr/bin/env bash
# Fails when the protocol libraries are not the pinned versions.
#
# `go get go.lsp.dev/protocol@latest`, and also asking for an older zap, afero or
# testify, moves them back to v0.12.0 without a word: the v1 line is missing from
# the list that "latest" is taken from. See docs/adr/0001.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

want=v1.0.1
for module in go.lsp.dev/protocol go.lsp.dev/jsonrpc2 go.lsp.dev/uri; do
  have=$(go list -m -f '{{.Version}}' "$module")
  if [ "$have" != "$want" ]; then
    echo "$module is $have, not $want: a \"go get\" has silently downgraded it (an @latest, or a zap older than v1.28.0); put it back with: go get $module@$want" >&2
    exit 1
  fi
  echo "$module $have"
done
