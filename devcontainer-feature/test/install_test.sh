#!/usr/bin/env bash
# install_test.sh: runs the feature's install.sh in a temporary directory, with an archive of
# the program that it builds and serves from a file: address. Requires Go, but no network and no
# container. The last line has the number of passed checks.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
install=$PWD/devcontainer-feature/src/xcsh-ls/install.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0

ok() {
  passed=$((passed + 1))
  echo "ok $passed $1"
}
fail() {
  echo "not ok $1" >&2
  exit 1
}

case $(uname -m) in
x86_64) arch=amd64 ;;
aarch64 | arm64) arch=arm64 ;;
*) fail "there is no release for $(uname -m)" ;;
esac

# release DIRECTORY VERSION: creates the files of a release for this machine, as goreleaser does.
release() {
  local stage=$work/stage-$2
  mkdir -p "$1" "$stage/completions"
  CGO_ENABLED=0 go build -buildvcs=false -trimpath -ldflags "-s -w -X main.version=$2" -o "$stage/xcsh-ls" ./cmd/xcsh-ls
  "$stage/xcsh-ls" completion bash >"$stage/completions/xcsh-ls"
  "$stage/xcsh-ls" completion zsh >"$stage/completions/_xcsh-ls"
  "$stage/xcsh-ls" completion fish >"$stage/completions/xcsh-ls.fish"
  tar -C "$stage" -czf "$1/xcsh-ls_$2_linux_$arch.tar.gz" .
  (cd "$1" && sha256sum ./*.tar.gz | sed 's|\./||' >checksums.txt)
}

# feature ROOT [NAME=VALUE...]: runs install.sh like the dev container tools.
feature() {
  local root=$1
  shift
  env PREFIX="$root" _REMOTE_USER="$(id -un)" SOURCE="file://$work/release" "$@" sh "$install" >"$work/out" 2>&1
}

release "$work/release" 1.2.3

root=$work/root
feature "$root" VERSION=1.2.3 || fail "a release by its version: $(cat "$work/out")"
[ "$("$root/usr/local/bin/xcsh-ls" version)" = 'xcsh-ls 1.2.3' ] || fail 'the installed program says another version'
[ -s "$root/usr/local/share/bash-completion/completions/xcsh-ls" ] || fail 'no completion for bash'
[ "$(stat -c '%a %U' "$root/var/lib/xcsh-ls/agent")" = "700 $(id -un)" ] || fail 'the sessions are not the user'"'"'s alone'
ok 'a release by its version'

PI_CODING_AGENT_DIR=$root/var/lib/xcsh-ls/agent XCSH_LS_NO_DETECT=1 \
  "$root/usr/local/bin/xcsh-ls" run --model offline/demo hello >"$work/out" || fail 'a turn with its session on the volume'
compgen -G "$root/var/lib/xcsh-ls/agent/sessions/*/*.jsonl" >/dev/null || fail 'the session is not on the volume'
ok 'a turn is saved on the volume'

# The tests for "devcontainer features test" run here with an installation below PREFIX, and with their library's two functions.
mkdir "$work/folder"
cat >"$work/folder/dev-container-features-test-lib" <<'END'
failed=0
check() {
  local name=$1
  shift
  if "$@" >check.out 2>&1; then echo "passed: $name"; else echo "FAILED: $name: $(cat check.out)"; failed=1; fi
}
reportResults() { [ "$failed" -eq 0 ] || exit 1; }
END
# scenario ROOT NAME: runs a test of the feature.
scenario() {
  (cd "$work/folder" && env PREFIX="$1" PATH="$1/usr/local/bin:/usr/bin:/bin" PI_CODING_AGENT_DIR="$1/var/lib/xcsh-ls/agent" XCSH_LS_NO_DETECT=1 \
    bash "$tests/$2.sh") >"$work/out" 2>&1 || fail "$2: $(cat "$work/out")"
}
tests=$PWD/devcontainer-feature/test/xcsh-ls
feature "$work/tests" VERSION=1.2.3 TEAMSERVICE=xcsh TEAM='core team' || fail "options of a team: $(cat "$work/out")"
scenario "$root" test
for name in $(sed -nE 's/^  "([a-z_]+)": \{$/\1/p' "$tests/scenarios.json"); do
  scenario "$work/tests" "$name"
done
printf '#!/bin/sh\nexit 1\n' >"$work/tests/usr/local/bin/xcsh-ls"
if (scenario "$work/tests" alpine) 2>/dev/null; then fail 'a test passed with a program that fails'; fi
ok 'the tests and scenarios of the feature'

feature "$work/v" VERSION=v1.2.3 || fail "a version with a v: $(cat "$work/out")"
feature "$work/latest" || fail "latest: $(cat "$work/out")"
grep -q '^xcsh-ls 1\.2\.3$' "$work/out" || fail 'latest is another version'
ok 'latest, and a version with a v'

# runs SCRIPT [NAME=VALUE...]: runs a hook of the feature with a stand-in that records its arguments and environment.
hooks=$work/hooks
feature "$hooks" VERSION=1.2.3 TEAMSERVICE=xcsh TEAM='core team' || fail "options of a team: $(cat "$work/out")"
cat >"$hooks/usr/local/bin/xcsh-ls" <<END
#!/bin/sh
echo "\$* service=\${XCSH_TEAM_SERVICE:-} team=\${XCSH_TEAM:-}" >>'$work/hook.fifo'
END
hook() {
  local script=$hooks/usr/local/share/xcsh-ls/$1
  shift
  env -u XCSH_TEAM_URL -u PGSERVICE -u PGHOST PI_CODING_AGENT_DIR="$hooks/agent" "$@" sh "$script"
}
mkfifo "$work/hook.fifo"
exec 9<>"$work/hook.fifo" # so that neither end waits for the other one to open it
hook team-start
read -r line <&9
[ "$line" = 'team watch service=xcsh team=core team' ] || fail "team-start: $line"
[ "$(stat -c %a "$hooks/agent/xcsh-ls/team/watch.log")" = 600 ] || fail 'the log of team watch is not the user'"'"'s alone'
hook team-attach
read -r line <&9
[ "$line" = 'team pull --project --newest 20 service=xcsh team=core team' ] || fail "team-attach: $line"
hook team-attach XCSH_TEAM_SERVICE=own XCSH_TEAM=mine
read -r line <&9
[ "$line" = 'team pull --project --newest 20 service=own team=mine' ] || fail "the user's own: $line"
ok 'the hooks send and pull with the options of the feature'

feature "$work/noteam" VERSION=1.2.3 || fail "no options of a team: $(cat "$work/out")"
rm "$work/noteam/usr/local/bin/xcsh-ls" # running it would fail
for script in team-start team-attach; do
  env -u XCSH_TEAM_URL -u XCSH_TEAM_SERVICE -u PGSERVICE -u PGHOST PI_CODING_AGENT_DIR="$work/noteam/agent" \
    sh "$work/noteam/usr/local/share/xcsh-ls/$script" 2>"$work/out" || fail "$script without a store"
  [ ! -s "$work/out" ] || fail "$script without a store says: $(cat "$work/out")"
done
[ ! -e "$work/noteam/agent" ] || fail 'a directory was made without a store'
ok 'without a store the hooks do nothing'

for bad in "x'; touch $work/ran; '" '$(id)' 'a b' '../x'; do
  if feature "$work/bad" VERSION=1.2.3 TEAMSERVICE="$bad"; then fail "the service $bad was accepted"; fi
done
if feature "$work/bad" VERSION=1.2.3 TEAM="x'; touch $work/ran; '"; then fail 'a team with a quote was accepted'; fi
[ ! -e "$work/bad" ] && [ ! -e "$work/ran" ] || fail 'something was installed or run'
ok 'options that are no names are refused'

if feature "$work/none" VERSION=9.9.9; then fail 'a version that does not exist was installed'; fi
grep -q 'checksums.txt does not name xcsh-ls_9.9.9_linux' "$work/out" || fail "not said: $(cat "$work/out")"
[ ! -e "$work/none" ] || fail 'something was installed'
ok 'a version that does not exist is refused'

printf 'x' >>"$work/release/xcsh-ls_1.2.3_linux_$arch.tar.gz"
if feature "$work/changed" VERSION=1.2.3; then fail 'an archive with a wrong sum was installed'; fi
grep -q 'nothing was installed' "$work/out" || fail "not said: $(cat "$work/out")"
[ ! -e "$work/changed" ] || fail 'something was installed'
ok 'an archive with a wrong sum is refused'

rm "$work/release/checksums.txt"
if feature "$work/nosums"; then fail 'an archive without a sum was installed'; fi
[ ! -e "$work/nosums" ] || fail 'something was installed'
ok 'without checksums nothing is installed'

echo "$passed passed, 0 failed"
