#!/usr/bin/env bash
# test.sh: runs all checks on a Debian machine with Go, Node and apt.
#
# It downloads and keeps everything else that the tests need: two releases of Neovim, VS Code's
# code-server, Helix, mdBook and StyLua below $XDG_CACHE_HOME/xcsh-ls, pi and the other agents below
# bench/peers/node_modules, npm packages beside what needs them. As root it installs Debian packages that are missing.
# The output of a check is printed when it ends. Every check runs, also if another one failed,
# and the last lines list the results, and what failed. The status is 0 only if all checks passed. Ctrl-C ends all
# of them.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
# shellcheck source=scripts/versions.env
. scripts/versions.env
# shellcheck source=scripts/retry.sh
. scripts/retry.sh
# Git refuses to read a checkout of another user, as in a container, so that there is no commit to
# stamp, and the build would fail.
export GOFLAGS="-buildvcs=false ${GOFLAGS:-}"

# The tests of the sandbox are skipped on a kernel without Landlock. Where the kernel has it, version 2
# or later, they must not be skipped because the server fails to detect it: 444 is
# landlock_create_ruleset, which returns the version.
case $(uname -sm) in
  "Linux x86_64" | "Linux aarch64")
    if [ "$(perl -e 'print syscall(444, 0, 0, 1)' 2>/dev/null)" -ge 2 ] 2>/dev/null; then
      export XCSH_REQUIRE_SANDBOX=1
    fi
    ;;
esac

# The tests of team/pg and of cmd/xcsh-ls with a team are skipped where PostgreSQL is missing. This script installs it.
export XCSH_REQUIRE_POSTGRES=1

work=$(mktemp -d)
mkdir "$work/checks"
: >"$work/tally"
number=0 # of the next check of a lane
lane=common

# finish ends the lanes that still run, with everything they started, and removes the work directory.
finish() {
  trap - EXIT INT TERM
  local pid
  for pid in $(jobs -p); do
    kill -TERM -- "-$pid" 2>/dev/null
  done
  wait
  rm -rf "$work"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# locked NAME COMMAND...: runs a command while other lanes wait for the lock of that name.
locked() {
  local lock=$work/$1.lock
  shift
  (flock 9 && "$@") 9>"$lock"
}

# print NAME FILE: prints the output of a check that ended.
print() {
  printf '\n== %s\n' "$1"
  cat "$2"
}

# step NAME COMMAND...: runs one check, prints its output when it ends and records the result.
step() {
  local name=$1 start=$SECONDS result=ok out
  shift
  number=$((number + 1))
  out=$work/checks/$lane-$(printf '%02d' "$number")
  scratch=$out.d # for files of this check
  mkdir "$scratch"
  "$@" >"$out" 2>&1 </dev/null || result=FAIL
  printf '%-5s %s (%d s)\n' "$result" "$name" "$((SECONDS - start))" >"$out.result"
  [ "$result" = ok ] || printf '%s\n' "$name" >"$out.failed"
  locked print print "$name ($result, $((SECONDS - start)) s, at minute $((SECONDS / 60)))" "$out"
}

# go_test ARG...: "go test" with one line per test, the failures at the end, and the numbers in the tally. The time limit is for slow machines.
go_test() {
  local events=$scratch/events.$RANDOM ran
  "$work/gotestsum" --format testname --hide-summary skipped --jsonfile "$events" -- -timeout 20m "$@"
  ran=$?
  touch "$events"
  # A run that fails without a failed test counts as one: it did not build, or its process died.
  awk -v ran="$ran" '
    /"Action":"(pass|fail|skip)"/ && /"Test":/ { match($0, /"Action":"[a-z]+"/); n[substr($0, RSTART + 10, RLENGTH - 11)]++ }
    END {
      if (n["fail"] == 0 && (ran != 0 || n["pass"] == 0)) n["fail"] = 1
      print n["pass"] + 0, n["fail"] + 0, n["skip"] + 0
      exit n["fail"] > 0
    }' "$events" >>"$work/tally" || ran=1
  return "$ran"
}

# go_test_env VARIABLE=VALUE ARG...: go_test with a variable.
go_test_env() {
  local -x "$1"
  shift
  go_test "$@"
}

# stress: one server under the race detector, with everything at once. XCSH_STRESS says how long.
stress() {
  go build -race -o "$work/xcsh-ls-race" ./cmd/xcsh-ls || return 1
  local -x XCSH_LS=$work/xcsh-ls-race XCSH_STRESS=${XCSH_STRESS:-5m}
  go_test -race -count=1 -timeout 30m -run '^TestStress$' ./attack
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
  locked apt retry apt_install "$@"
}

# apt_install PACKAGE...: installs packages, as root.
apt_install() {
  apt-get -qq update && apt-get -qq -o DPkg::Lock::Timeout=300 install -y --no-install-recommends "$@"
}

# browser: Debian's Chromium without windows, or the other one where a release lacks it.
browser() {
  command -v chromium >/dev/null || debian chromium-headless-shell "open pages in a browser" chromium-headless-shell ||
    debian chromium "open pages in a browser" chromium
}

# install_pi [engines]: pi, or all programs that answer in tests. pi needs a newer Node.js than Debian's; npm has one, which needs libatomic1.
install_pi() {
  local lacking=()
  command -v npm >/dev/null || lacking+=(npm)
  compgen -G '/usr/lib/*/libatomic.so.1' >/dev/null || lacking+=(libatomic1)
  if [ ${#lacking[@]} -gt 0 ]; then
    if [ "$(id -u)" -ne 0 ]; then
      echo "To run pi, install the packages ${lacking[*]}." >&2
      return 1
    fi
    locked apt retry apt_install "${lacking[@]}" || return 1
  fi
  bench/peers/install.sh "${1:-pi}"
}

# real_engines: omp, Claude Code and other agents, which answer with models of the tests or not at all. All of them must be installed.
real_engines() {
  install_pi engines && go_test_env XCSH_REQUIRE_PEERS=1 -tags peers -run '^TestReal' ./agent/engine/acp
}

# postgresql: the server and the pooler of the tests of team/pg. On Debian initdb is in no PATH, and pgbouncer only in root's.
postgresql() {
  if compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null && [ -x /usr/sbin/pgbouncer ]; then
    return 0
  fi
  debian initdb "test the store of a team" postgresql postgresql-client pgbouncer
}

# mcp_servers: published servers of the Model Context Protocol, which must be installed.
mcp_servers() {
  retry npm --prefix agent/mcp/testdata/servers ci --no-audit --no-fund --ignore-scripts --prefer-offline --loglevel=error &&
    go_test -tags peers -run '^TestReal' ./agent/mcp &&
    go_test -tags peers -run '^TestRealServers' ./cmd/xcsh-ls
}

# tap COMMAND...: a command that prints TAP, as "node --test" does, with its numbers in the tally.
tap() {
  "$@" >"$scratch/tap.out"
  local ran=$?
  [ "$ran" -eq 0 ] || grep -v '^ok' "$scratch/tap.out"
  awk '/^# (pass|fail|cancelled|skipped) / { n[$2] += $3 } END { print n["pass"] + 0, n["fail"] + n["cancelled"], n["skipped"] + 0 }' "$scratch/tap.out" | tee -a "$work/tally"
  return "$ran"
}

# node_test FILE...: "node --test" with its numbers in the tally.
node_test() {
  tap node --test --test-reporter=tap "$@"
}

# vscode_tools: what the extension is built with. Markdown of ours is rendered with some of it.
vscode_tools() {
  if ! retry npm --prefix editors/vscode --loglevel=error ci --no-audit --no-fund --ignore-scripts --prefer-offline; then
    echo "The tools of the VS Code extension could not be installed with npm, so it is untested." >&2
    return 1
  fi
}

# vscode: the types and the style of the extension, and its tests that need no editor.
vscode() {
  local npm=(npm --prefix editors/vscode --loglevel=error)
  "${npm[@]}" run check && "${npm[@]}" run lint && tap "${npm[@]}" test
}

# vscode_scenarios PART: a part of the scenarios of the extension in VS Code, such as 1/2.
vscode_scenarios() {
  counted env REQUIRE_ALL=1 PART="$1" XCSH_LS="$work/xcsh-ls" editors/vscode/test/e2e/run.sh
}

# client DIRECTORY: the tests of a client that is made of a published library, against the server built above.
client() {
  if ! retry npm --prefix "$1" ci --no-audit --no-fund --ignore-scripts --prefer-offline --loglevel=error; then
    echo "What $1 needs could not be installed with npm, so its tests did not run." >&2
    return 1
  fi
  XCSH_LS=$work/xcsh-ls node_test "$1"/*.test.mjs
}

# history_foreign: other programs, with SQLite of their own, on the prompt history at the same time. One is
# the Node.js that install_pi installs.
history_foreign() {
  debian sqlite3 "share the prompt history with other programs" sqlite3 &&
    debian python3 "share the prompt history with other programs" python3 &&
    go_test -tags foreign -run 'TestOtherPrograms|TestTheShell' ./history
}

# shells: the scripts of completions in the real shells; without a shell, the test leaves it out.
shells() {
  debian zsh "complete commands in zsh" zsh && debian fish "complete commands in fish" fish || return 1
  [ -r /usr/share/bash-completion/bash_completion ] || debian bash_completion "complete commands in bash" bash-completion || return 1
  go_test -count=1 -run '^TestScripts$/^completions$' ./cmd/xcsh-ls
}

# cross_vet compiles packages as a release does, which then takes them from the cache.
cross_vet() {
  local -x GOFLAGS="$GOFLAGS -trimpath"
  GOOS=windows go vet ./... && GOOS=darwin go vet ./...
}

# lint waits for another golangci-lint that runs on this machine, instead of failing.
lint() {
  GOBIN=$work retry go install "github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$GOLANGCI_LINT_VERSION" &&
    "$work/golangci-lint" run --allow-serial-runners ./...
}

# mutants runs the tests against some small bugs, others every day. MUTANTS_SEED repeats the choice of a day.
mutants() {
  go run ./scripts/mutants -budget 1m -seed "${MUTANTS_SEED:-}"
}

# bills_of_materials needs the modules of cyclonedx-gomod.
bills_of_materials() {
  # The test has a time limit, so the tool is compiled before it.
  retry go -C scripts/tools mod download && go -C scripts/tools vet ./... && go -C scripts/tools build -o "$scratch/sbom" ./sbom &&
    go_test -tags sbom ./scripts/sbom
}

# with_git COMMAND...: runs a command that asks git about this tree. Git then reads the checkout of another user, as in a container.
# A tree without git, such as that of an archive, gets a repository outside of it.
with_git() {
  local -x GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=safe.directory GIT_CONFIG_VALUE_0=$PWD
  if ! git rev-parse --verify --quiet HEAD >/dev/null 2>&1; then
    local -x GIT_DIR=$scratch/git GIT_WORK_TREE=$PWD
    git init --quiet && git add --all &&
      git -c user.name=tests -c user.email=tests@localhost -c commit.gpgSign=false commit --quiet --allow-empty --message "this tree" || return 1
  fi
  "$@"
}

# release_artefacts builds all parts of a release in dist, except the container image, and checks them. Its version is determined
# once, because a test that writes a file changes it.
release_artefacts() {
  debian lintian "check the packages of a release" lintian && debian rpm "read the packages of a release" rpm &&
    debian rpmlint "check the packages of a release" rpmlint || return 1
  local -x XCSH_VERSION
  XCSH_VERSION=$(scripts/release-version.sh) &&
    nice -n 9 scripts/release-checks.sh --no-tests && go_test -count=1 -tags artefacts ./scripts/artefacts
}

cache=${XDG_CACHE_HOME:-${HOME:+$HOME/.cache}}
cache=${cache:+$cache/xcsh-ls}
if [ -z "$cache" ] || ! mkdir -p "$cache" 2>/dev/null; then
  cache=$PWD/.cache
fi

# counted COMMAND...: a check whose last line begins with "N passed, N failed".
counted() {
  "$@" | tee "$scratch/counted.out"
  local ran=$?
  if ! sed -nE '$s/^([0-9]+) passed, ([0-9]+) failed.*$/\1 \2 0/p' "$scratch/counted.out" | grep . >>"$work/tally"; then
    echo "0 1 0" >>"$work/tally"
    return 1
  fi
  return $ran
}

# documentation_site: builds it, follows its links, and searches it in a browser.
documentation_site() {
  scripts/get-mdbook.sh "$cache/mdbook-forky" &&
    go_test_env XCSH_MDBOOK="$cache/mdbook-forky/bin/mdbook-here" -count=1 -tags browser ./scripts/site
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
  counted env REQUIRE_ALL=1 editors/neovim/tests/run.sh "$nvim" "$work/xcsh-ls"
}

# neovim_screens SUITE: screens of the plugin in a terminal, with that Neovim and the server built above.
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

# emacs_eglot is not called emacs, which debian would take for the program.
emacs_eglot() {
  debian emacs "run the commands in Emacs" emacs-nox elpa-eglot && counted editors/other/emacs/run.sh "$work/xcsh-ls"
}

manifests() {
  debian emacs "check the package for Emacs" emacs-nox elpa-eglot && counted with_git scripts/manifests.sh
}

build_gotestsum() {
  GOBIN=$work retry go install "gotest.tools/gotestsum@$GOTESTSUM_VERSION"
}

# All lanes need these.
step "C compiler for the race detector" debian "$(go env CC)" "run the race detector" gcc libc6-dev
step "PostgreSQL and pgbouncer" postgresql
step "Go modules" retry go mod download
step "build gotestsum" build_gotestsum
# With the default flags, so that the tests, vet and the linters share its compiled packages.
step "build the server" go build -o "$work/xcsh-ls" ./cmd/xcsh-ls
step "the tools of the VS Code extension" vscode_tools

# Downloads and unpacks what the editors' checks need. It is no check: what fails here is downloaded
# by the check that needs it, which reports the failure.
lane_fetch() {
  renice -n 19 "$BASHPID"
  browser
  debian tmux "look at screens" tmux
  debian emacs "run the commands in Emacs" emacs-nox elpa-eglot
  scripts/get-debian.sh neovim nvim trixie "$cache/neovim-trixie"
  scripts/get-debian.sh neovim nvim forky "$cache/neovim-forky"
  scripts/get-debian.sh hx hx forky "$cache/helix"
  scripts/get-mdbook.sh "$cache/mdbook-forky"
  editors/vscode/test/e2e/setup.sh
  install_pi engines
} >"$work/fetch.log" 2>&1 </dev/null

# program_packages: the packages that start built programs again and again. In these, the race detector sees the tests only; the
# stress and the conversations run servers with it.
program_packages() {
  go list ./... | grep -E '/(attack|bench|cmd/xcsh-ls)$'
}

race_packages() {
  go list ./... | grep -vE '/(attack|bench|cmd/xcsh-ls)$'
}

# large_files: the files with tests that internal/racetest leaves out.
large_files() {
  grep -rl --include='*_test.go' 'racetest\.Large(' .
}

# large_packages: the packages of these tests.
large_packages() {
  large_files | xargs -n 1 dirname | sort -u
}

# large_tests: a regular expression that matches the names of these tests.
large_tests() {
  large_files | xargs awk '
    /^func / { name = $2; sub(/\(.*/, "", name) }
    /racetest\.Large\(/ { print name }' | sort -u | paste -sd '|' | sed 's/.*/^(&)$/'
}

# The tests of the Go packages. go vet is a check of its own.
# shellcheck disable=SC2046 # lists of packages
lane_go() {
  step "go test -race" go_test -race -vet=off $(race_packages)
  step "conversations with the race detector" go_test -race -vet=off -run '^TestConversations$' ./cmd/xcsh-ls
  step "tests of whole programs" go_test_env XCSH_LS="$work/xcsh-ls" -vet=off $(program_packages)
  step "large inputs, without the race detector" go_test -vet=off -run "$(large_tests)" $(large_packages)
  step "small sessions as large ones, with index files" go_test_env XCSH_TEST_INDEX=1 -count=1 ./session ./agent ./commands
  step "500 killed servers" go_test_env XCSH_SOAK=1 -count=1 -run '^TestKilledServer$' ./attack
  step "100 killed engines and servers with engines" go_test_env XCSH_ENGINE_KILLS=50 -count=1 -run '^TestKilled(Engine|Host)$' ./attack
  step "recycled requests are not kept (jsonrpc2poison)" go_test -tags jsonrpc2poison ./lsp/...
  step "the JSON scanner without assembly (purego)" go_test -tags purego ./internal/rawjson ./session
  step "completions in bash, zsh and fish" shells
  step "manual pages" go_test -tags man -run '^TestManualPages$' ./cmd/xcsh-ls
  step "without the store of a team (noteam)" go_test -tags noteam -run 'TestHelp|TestStartup|TestScripts/run' ./cmd/xcsh-ls
}

# A server that runs for five minutes under the race detector.
lane_stress() {
  step "five minutes of stress" stress
}

# Checks that compile and compare texts. A slow machine makes them slow and never makes them fail.
lane_static() {
  renice -n 10 "$BASHPID" >/dev/null
  step "pinned protocol libraries" scripts/check-deps.sh
  step "generated files are current" go run ./commands/gen -check
  step "third-party notices are current" go run ./scripts/notices -check
  step "go vet for Windows and macOS" cross_vet
  step "golangci-lint" lint
  step "plain English" go run ./scripts/words
  step "docs/coverage.md is current" go run ./scripts/coverage -check
  step "tests notice bugs (a minute of make mutants)" mutants
  step "bills of materials" bills_of_materials
  step "the artefacts of a release" with_git release_artefacts
  step "known vulnerabilities" go run ./scripts/vulns
  step "two minutes of fuzzing" scripts/fuzz.sh --total 120
  step "luacheck" lua_lint
  step "StyLua" scripts/stylua.sh --check
}

# Other agents, what they share with us, and clients that are made of published libraries; then half of the extension's scenarios.
lane_agents() {
  step "pi, to compare with" install_pi
  step "the prompt history beside other programs" history_foreign
  step "omp, Claude Code and others as engines" real_engines
  step "published MCP servers" mcp_servers
  step "the same answers as pi" go_test_env XCSH_REQUIRE_PEERS=1 -tags peers ./bench/differential
  step "the double of pi does what pi does" go_test -tags peers ./agent/engine/enginetest
  step "pi as an engine" go_test -tags peers ./agent/engine/pi
  step "pi as the engine of a server" go_test -tags peers -run '^Test(KilledEngine|KilledHost|TwoWriters|RepositoryAndTheUsersPi)$' ./attack
  step "an editor without a plugin (node --test)" client cmd/xcsh-ls/testdata/plain-client
  step "a client of the Agent Client Protocol (node --test)" client cmd/xcsh-ls/testdata/acp-client
  step "the extension in VS Code, part 2" vscode_scenarios 2/2
}

# Pages, and the panel of the extension.
lane_pages() {
  step "the exported page's script (node --test)" node_test session/export/viewer/tests
  step "Chromium, to open pages" browser
  step "exported pages in a browser" go_test -tags browser -run TestBrowser ./session/export
  step "the documentation site" documentation_site
  step "the VS Code extension" vscode
  step "its panel in a browser" tap npm --prefix editors/vscode --loglevel=error run test:webview
  step "the extension in VS Code, part 1" vscode_scenarios 1/2
}

# Editors in terminals, and the installation in containers.
lane_terminals() {
  step "Neovim 0.10 (Debian trixie)" neovim trixie 0.10
  step "Neovim 0.12 (Debian forky)" neovim forky 0.12
  step "the plugin's repository, in Neovim 0.12" go_test_env XCSH_TEST_NVIM="$cache/neovim-forky/bin/nvim" -count=1 -run '^Test(NeovimLoads|TheSnippet)' ./scripts
  step "the screen of Neovim 0.10 in tmux" neovim_screens trixie
  step "the screen of Neovim 0.12 in tmux" neovim_screens forky
  step "Helix (Debian forky)" helix
  step "Emacs with eglot" emacs_eglot
  step "manifests of package managers" manifests
  step "the dev container feature" counted devcontainer-feature/test/install_test.sh
}

# run_lane NAME: runs a lane in a process group of its own, so that finish can end all of it.
run_lane() {
  set -m
  (lane=$1 && number=0 && trap - EXIT INT TERM && "lane_$1") &
  set +m
}
# The Go tests have the processors for themselves; beside them run downloads only. The stress has servers that leave
# processors idle and have 45 seconds to answer. Editors and agents, which wait for each other most of the time, run
# last, side by side. The checks that no delay can fail begin with the stress, and use what the others leave.
run_lane fetch
fetch=$!
run_lane go
wait $!
run_lane stress
stress=$!
run_lane static
static=$!
wait "$stress" "$fetch"
run_lane agents
agents=$!
run_lane pages
pages=$!
run_lane terminals
wait $! "$pages" "$agents" "$static"

for failed in "$work"/checks/*.failed; do
  [ -e "$failed" ] || continue
  print "failed: $(cat "$failed")" <(tail -n 60 "${failed%.failed}")
done
printf '\n== summary\n'
cat "$work"/checks/*.result
for failed in "$work"/checks/*.failed; do
  [ -e "$failed" ] || continue
  echo "-- $(cat "$failed")"
  grep -E -A 8 '^(=== FAIL|FAIL +[^ ]|not ok)' "${failed%.failed}" | cut -c 1-300 | head -n 40
done
checks=$(find "$work/checks" -name '*.result' | wc -l)
checks_failed=$(find "$work/checks" -name '*.failed' | wc -l)
echo "$((checks - checks_failed)) checks passed, $checks_failed failed"
awk '{ p += $1; f += $2; s += $3 } END { printf "%d passed, %d failed, %d skipped\n", p, f, s }' "$work/tally"
[ "$checks_failed" -eq 0 ]
