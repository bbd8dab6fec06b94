#!/usr/bin/env bash
# test.sh: everything that has to hold, on a Debian machine with Go, Node and apt.
#
# Whatever else the tests need is fetched first and kept: two releases of Neovim below
# $XDG_CACHE_HOME/xcsh-ls, pi below bench/peers/node_modules. Then every check runs,
# also after one of them failed, and the last lines say what passed. The status is 0
# only if all did.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
# shellcheck source=scripts/versions.env
. scripts/versions.env
# A checkout that belongs to somebody else, as in a container, has no commit to stamp:
# git refuses to look at it, and the build would fail over that.
export GOFLAGS="-buildvcs=false ${GOFLAGS:-}"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tally=$work/tally
: >"$tally"
report=()
checks_failed=0

# step NAME COMMAND...: runs one check and remembers how it went.
step() {
  local name=$1 start=$SECONDS
  shift
  printf '\n== %s\n' "$name"
  if "$@"; then
    report+=("ok    $name ($((SECONDS - start)) s)")
  else
    report+=("FAIL  $name")
    checks_failed=$((checks_failed + 1))
  fi
}

# go_test ARG...: "go test" with one line per test and its numbers in the tally.
go_test() {
  go test -json "$@" | "$work/testsum" -tally "$tally"
}

c_compiler() {
  if command -v "$(go env CC)" >/dev/null; then
    return 0
  fi
  if [ "$(id -u)" -ne 0 ]; then
    echo "The race detector needs a C compiler; install the packages gcc and libc6-dev." >&2
    return 1
  fi
  apt-get -qq update && apt-get -qq install -y --no-install-recommends gcc libc6-dev
}

# pi needs a newer Node.js than Debian's; npm has one, which needs libatomic1.
install_pi() {
  local lacking=()
  command -v npm >/dev/null || lacking+=(npm)
  compgen -G '/usr/lib/*/libatomic.so.1' >/dev/null || lacking+=(libatomic1)
  if [ ${#lacking[@]} -gt 0 ]; then
    if [ "$(id -u)" -ne 0 ]; then
      echo "To run pi, install the packages ${lacking[*]}." >&2
      return 1
    fi
    apt-get -qq update && apt-get -qq install -y --no-install-recommends "${lacking[@]}" || return 1
  fi
  bench/peers/install.sh pi
}

# node_test FILE...: "node --test" with its numbers in the tally.
node_test() {
  node --test --test-reporter=tap "$@" >"$work/node.out"
  local ran=$?
  [ "$ran" -eq 0 ] || grep -v '^ok' "$work/node.out"
  awk '/^# (pass|fail|cancelled|skipped) / { n[$2] = $3 } END { print n["pass"] + 0, n["fail"] + n["cancelled"], n["skipped"] + 0 }' "$work/node.out" | tee -a "$tally"
  return "$ran"
}

# plain_client: an editor made of a published LSP client and nothing of ours, against the server built above.
plain_client() {
  local dir=cmd/xcsh-ls/testdata/plain-client
  if ! npm --prefix "$dir" ci --no-audit --no-fund --ignore-scripts --prefer-offline --loglevel=error; then
    echo "The LSP client could not be installed with npm, so editors without a plugin are untested." >&2
    return 1
  fi
  XCSH_LS=$work/xcsh-ls node_test "$dir"/*.test.mjs
}

chromium() {
  if command -v chromium >/dev/null; then
    return 0
  fi
  if [ "$(id -u)" -ne 0 ]; then
    echo "To open exported pages in a browser, install the package chromium." >&2
    return 1
  fi
  apt-get -qq update && apt-get -qq install -y --no-install-recommends chromium
}

cross_vet() {
  GOOS=windows go vet ./... && GOOS=darwin go vet ./...
}

lint() {
  go run "github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$GOLANGCI_LINT_VERSION" run ./...
}

cache=${XDG_CACHE_HOME:-${HOME:+$HOME/.cache}}
cache=${cache:+$cache/xcsh-ls}
if [ -z "$cache" ] || ! mkdir -p "$cache" 2>/dev/null; then
  cache=$PWD/.cache
fi

# neovim SUITE OLDEST: the plugin's tests in that suite's Neovim, against the server built above.
neovim() {
  local nvim=$cache/neovim-$1/bin/nvim
  if ! scripts/get-neovim.sh "$1" "$cache/neovim-$1"; then
    echo "There is no Neovim $2 to test with, so the plugin is untested there." >&2
    return 1
  fi
  "$nvim" --version | head -n 1
  if ! "$nvim" --headless -u NONE -i NONE +"if !has('nvim-$2') | cquit | endif" +qa; then
    echo "This is not Neovim $2 or newer." >&2
    return 1
  fi
  editors/neovim/tests/run.sh "$nvim" "$work/xcsh-ls" | tee "$work/nvim.out"
  local ran=$?
  # Its last line is "N passed, N failed"; without one it died, which is a failure.
  if ! sed -nE '$s/^([0-9]+) passed, ([0-9]+) failed$/\1 \2 0/p' "$work/nvim.out" | grep . >>"$tally"; then
    echo "0 1 0" >>"$tally"
    return 1
  fi
  return $ran
}

step "C compiler for the race detector" c_compiler
step "build the test summary" go build -o "$work/testsum" ./scripts/testsum
step "pinned protocol libraries" scripts/check-deps.sh
step "go vet" go vet ./...
step "go vet for Windows and macOS" cross_vet
step "generated files are current" go run ./commands/gen -check
step "golangci-lint" lint
step "go test -race" go_test -race ./...
step "recycled requests are not kept (jsonrpc2poison)" go_test -tags jsonrpc2poison ./lsp/...
step "the exported page's script (node --test)" node_test session/export/viewer/tests
step "Chromium, to open exported pages" chromium
step "exported pages in a browser" go_test -tags browser -run TestBrowser ./session/export
step "pi, to compare with" install_pi
step "the same answers as pi" go_test -tags peers ./bench/differential
step "build the server" env CGO_ENABLED=0 go build -trimpath -o "$work/xcsh-ls" ./cmd/xcsh-ls
step "an editor without a plugin (node --test)" plain_client
step "Neovim 0.10 (Debian trixie)" neovim trixie 0.10
step "Neovim 0.12 (Debian forky)" neovim forky 0.12

printf '\n== summary\n'
printf '%s\n' "${report[@]}"
echo "$((${#report[@]} - checks_failed)) checks passed, $checks_failed failed"
awk '{ p += $1; f += $2; s += $3 } END { printf "%d passed, %d failed, %d skipped\n", p, f, s }' "$tally"
[ "$checks_failed" -eq 0 ]
