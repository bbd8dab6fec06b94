#!/usr/bin/env bash
# test.sh: everything that has to hold, on a Debian machine with Go, Node and apt.
#
# Whatever else the tests need is fetched and kept: two releases of Neovim, VS Code's
# code-server, Helix and StyLua below $XDG_CACHE_HOME/xcsh-ls, pi below bench/peers/node_modules, npm
# packages beside what needs them. As root it installs Debian packages that are missing.
# Every check runs, also after one of them failed, and the last lines say what passed. The
# status is 0 only if all did.
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

# debian COMMAND PURPOSE PACKAGE...: installs packages, as root, when a command is missing.
debian() {
  local command=$1 purpose=$2
  shift 2
  if command -v "$command" >/dev/null; then
    return 0
  fi
  if [ "$(id -u)" -ne 0 ]; then
    echo "To $purpose, install the packages $*." >&2
    return 1
  fi
  apt-get -qq update && apt-get -qq install -y --no-install-recommends "$@"
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

# tap COMMAND...: a command that prints TAP, as "node --test" does, with its numbers in the tally.
tap() {
  "$@" >"$work/tap.out"
  local ran=$?
  [ "$ran" -eq 0 ] || grep -v '^ok' "$work/tap.out"
  awk '/^# (pass|fail|cancelled|skipped) / { n[$2] += $3 } END { print n["pass"] + 0, n["fail"] + n["cancelled"], n["skipped"] + 0 }' "$work/tap.out" | tee -a "$tally"
  return "$ran"
}

# node_test FILE...: "node --test" with its numbers in the tally.
node_test() {
  tap node --test --test-reporter=tap "$@"
}

# vscode: the extension's types, its style and what can be tested without the editor.
vscode() {
  local npm=(npm --prefix editors/vscode --loglevel=error)
  if ! "${npm[@]}" ci --no-audit --no-fund --ignore-scripts --prefer-offline; then
    echo "The tools of the VS Code extension could not be installed with npm, so it is untested." >&2
    return 1
  fi
  "${npm[@]}" run check && "${npm[@]}" run lint && tap "${npm[@]}" test
}

# client DIRECTORY: the tests of a client that is made of a published library, against the server built above.
client() {
  if ! npm --prefix "$1" ci --no-audit --no-fund --ignore-scripts --prefer-offline --loglevel=error; then
    echo "What $1 needs could not be installed with npm, so its tests did not run." >&2
    return 1
  fi
  XCSH_LS=$work/xcsh-ls node_test "$1"/*.test.mjs
}

# history_foreign: other programs, with SQLite of their own, on the prompt history at the same time.
history_foreign() {
  debian sqlite3 "share the prompt history with other programs" sqlite3 &&
    debian python3 "share the prompt history with other programs" python3 &&
    go_test -tags foreign -run 'TestOtherPrograms|TestTheShell' ./agent/history
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

# counted COMMAND...: a check whose last line begins with "N passed, N failed".
counted() {
  "$@" | tee "$work/counted.out"
  local ran=$?
  if ! sed -nE '$s/^([0-9]+) passed, ([0-9]+) failed.*$/\1 \2 0/p' "$work/counted.out" | grep . >>"$tally"; then
    echo "0 1 0" >>"$tally"
    return 1
  fi
  return $ran
}

# neovim SUITE OLDEST: the plugin's tests in that suite's Neovim, against the server built above.
neovim() {
  local nvim=$cache/neovim-$1/bin/nvim
  if ! scripts/get-debian.sh neovim nvim "$1" "$cache/neovim-$1"; then
    echo "There is no Neovim $2 to test with, so the plugin is untested there." >&2
    return 1
  fi
  "$nvim" --version | sed -n 1p
  if ! "$nvim" --headless -u NONE -i NONE +"if !has('nvim-$2') | cquit | endif" +qa; then
    echo "This is not Neovim $2 or newer." >&2
    return 1
  fi
  counted editors/neovim/tests/run.sh "$nvim" "$work/xcsh-ls"
}

# neovim_screens SUITE: what a person sees of the plugin in a terminal, with that Neovim and the server built above.
neovim_screens() {
  debian tmux "look at the screens of Neovim" tmux &&
    counted editors/neovim/tests/screen/run.sh "$cache/neovim-$1/bin/nvim" "$work/xcsh-ls"
}

# lua_lint: luacheck from Debian.
lua_lint() {
  debian luacheck "check the Lua files" lua-check && (cd editors/neovim && luacheck -q .)
}

helix() {
  debian tmux "look at the screen of Helix" tmux && scripts/get-debian.sh hx hx forky "$cache/helix" &&
    counted editors/other/helix/run.sh "$cache/helix/bin/hx" "$work/xcsh-ls"
}

emacs() {
  debian emacs "run the commands in Emacs" emacs-nox elpa-eglot && counted editors/other/emacs/run.sh "$work/xcsh-ls"
}

step "C compiler for the race detector" debian "$(go env CC)" "run the race detector" gcc libc6-dev
step "build the test summary" go build -o "$work/testsum" ./scripts/testsum
step "pinned protocol libraries" scripts/check-deps.sh
step "go vet" go vet ./...
step "go vet for Windows and macOS" cross_vet
step "generated files are current" go run ./commands/gen -check
step "golangci-lint" lint
step "go test -race" go_test -race ./...
step "recycled requests are not kept (jsonrpc2poison)" go_test -tags jsonrpc2poison ./lsp/...
step "the prompt history beside other programs" history_foreign
step "the exported page's script (node --test)" node_test session/export/viewer/tests
step "Chromium, to open pages" debian chromium "open pages in a browser" chromium
step "exported pages in a browser" go_test -tags browser -run TestBrowser ./session/export
step "pi, to compare with" install_pi
step "the same answers as pi" go_test -tags peers ./bench/differential
step "build the server" env CGO_ENABLED=0 go build -trimpath -o "$work/xcsh-ls" ./cmd/xcsh-ls
step "an editor without a plugin (node --test)" client cmd/xcsh-ls/testdata/plain-client
step "a client of the Agent Client Protocol (node --test)" client cmd/xcsh-ls/testdata/acp-client
step "the VS Code extension" vscode
step "its panel in a browser" tap npm --prefix editors/vscode --loglevel=error run test:webview
step "the extension in VS Code" counted env XCSH_LS="$work/xcsh-ls" editors/vscode/test/e2e/run.sh
step "luacheck" lua_lint
step "StyLua" scripts/stylua.sh --check
step "Neovim 0.10 (Debian trixie)" neovim trixie 0.10
step "Neovim 0.12 (Debian forky)" neovim forky 0.12
step "the screen of Neovim 0.10 in tmux" neovim_screens trixie
step "the screen of Neovim 0.12 in tmux" neovim_screens forky
step "Helix (Debian forky)" helix
step "Emacs with eglot" emacs
step "the dev container feature" counted devcontainer-feature/test/install_test.sh

printf '\n== summary\n'
printf '%s\n' "${report[@]}"
echo "$((${#report[@]} - checks_failed)) checks passed, $checks_failed failed"
awk '{ p += $1; f += $2; s += $3 } END { printf "%d passed, %d failed, %d skipped\n", p, f, s }' "$tally"
[ "$checks_failed" -eq 0 ]
