#!/usr/bin/env bash
# Fails if the protocol libraries are not the pinned versions.
#
# `go get go.lsp.dev/protocol@latest` silently downgrades them to v0.12.0, and so does
# requesting an older zap, afero or testify: the module's version list, which determines
# "latest", doesn't contain v1. See docs/adr/0001.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

want=v1.0.1
for module in go.lsp.dev/protocol go.lsp.dev/jsonrpc2 go.lsp.dev/uri; do
  have=$(go list -m -f '{{.Version}}' "$module")
  if [ "$have" != "$want" ]; then
    echo "$module is $have, not $want: a \"go get\" has silently downgraded it (an @latest, or a zap older than v1.28.0); restore it with: go get $module@$want" >&2
    exit 1
  fi
  echo "$module $have"
done
