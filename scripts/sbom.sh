#!/usr/bin/env bash
# sbom.sh VERSION DATE PROGRAM DOCUMENT: writes a bill of materials of a Go program, as CycloneDX 1.5
# JSON. DATE (RFC 3339) is that of the release. The output depends only on these and the modules.
set -euo pipefail
version=$1 date=$2 program=$(realpath "$3") document=$(realpath -m "$4")
# Only the module in this directory requires cyclonedx-gomod. GOOS and GOARCH are the release's target.
cd "$(dirname "${BASH_SOURCE[0]}")/tools"
exec env -u GOOS -u GOARCH go run -buildvcs=false ./sbom -version "$version" -date "$date" -output "$document" "$program"
