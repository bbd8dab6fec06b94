#!/usr/bin/env bash
# sbom.sh VERSION PROGRAM DOCUMENT: writes a bill of materials of a Go program, as CycloneDX 1.5
# JSON. The output depends only on the program.
set -euo pipefail
version=$1 program=$(realpath "$2") document=$(realpath -m "$3")
# Only the module in this directory requires cyclonedx-gomod.
cd "$(dirname "${BASH_SOURCE[0]}")/tools"
exec go tool cyclonedx-gomod bin -json -noserial -notimestamp -std -output-version 1.5 -version "$version" -output "$document" "$program"
