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

feature "$work/v" VERSION=v1.2.3 || fail "a version with a v: $(cat "$work/out")"
feature "$work/latest" || fail "latest: $(cat "$work/out")"
grep -q '^xcsh-ls 1\.2\.3$' "$work/out" || fail 'latest is another version'
ok 'latest, and a version with a v'

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
