#!/usr/bin/env bash
# wine.sh: runs the Windows program, and the tests of packages that depend on the system, in Wine.
#
# It needs Debian, unshare and about 1.5 GB below $XDG_CACHE_HOME/xcsh-ls, where it unpacks Wine of Debian trixie once
# (190 MB to download); nothing is installed. As root, or where users may create namespaces. It takes some minutes.
# Wine is no Windows: what passes here can still fail there. What Wine lacks is left out below, with the reason.
#
# The last line has the number of passed checks.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
root=${XDG_CACHE_HOME:-$HOME/.cache}/xcsh-ls/wine-trixie
scripts/get-debian.sh "wine64 dash bash coreutils" - trixie "$root" || exit 1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# What the packages' installation would do: a user, and a library that Wine takes from another package.
echo 'root:x:0:0:root:/home:/bin/sh' >"$root/etc/passwd"
zlib=$root/usr/x86_64-w64-mingw32/lib/zlib1.dll
{
  head -c 64 "$zlib"
  printf 'Wine builtin DLL\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0'
  tail -c +97 "$zlib"
} >"$root/usr/lib/x86_64-linux-gnu/wine/x86_64-windows/zlib1.dll"
mkdir -p "$root/work" "$root/repository" "$root/sys"
ln -sfn usr/bin "$root/bin"
ln -sfn usr/lib "$root/lib"
ln -sfn usr/lib64 "$root/lib64"

namespace=(unshare --mount)
[ "$(id -u)" -eq 0 ] || namespace=(unshare --map-root-user --mount)

# wine DIRECTORY COMMAND...: runs a command in the tree of Wine. /work has the programs, /repository this clone. Wine's memory is
# corrupted if TMPDIR is set, so the environment is empty.
wine() {
  # shellcheck disable=SC2016 # expanded by the shell in the namespace
  "${namespace[@]}" sh -euc '
    root=$1 work=$2 repository=$3 directory=$4
    shift 4
    mount --rbind /proc "$root/proc"
    mount --rbind /dev "$root/dev"
    mount --rbind /sys "$root/sys"
    mount --bind "$work" "$root/work"
    mount --bind "$repository" "$root/repository"
    exec chroot "$root" /usr/bin/env -i HOME=/work PATH=/usr/bin:/usr/lib/wine XDG_RUNTIME_DIR=/work LANG=C.UTF-8 WINEPREFIX=/work/wine \
      WINEDEBUG=-all WINEDLLOVERRIDES=mscoree,mshtml= XCSH_LS_NO_DETECT=1 sh -c "cd \"\$0\" && exec \"\$@\"" "$directory" "$@"
  ' sh "$root" "$work" "$PWD" "$@"
}

# shellcheck source=scripts/check.sh
. scripts/check.sh

# says TEXT COMMAND...: succeeds if the command does and its output has the text.
says() {
  local text=$1
  shift
  "$@" | tee "$work/said" | cat
  [ "${PIPESTATUS[0]}" -eq 0 ] && grep -qF -- "$text" "$work/said"
}

message() { printf 'Content-Length: %d\r\n\r\n%s' "${#1}" "$1"; }
# conversation: an editor that lists sessions and leaves.
conversation() {
  {
    message '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"processId":null,"capabilities":{},"workspaceFolders":[{"uri":"file:///Z:/work/project","name":"p"}]}}'
    message '{"jsonrpc":"2.0","method":"initialized","params":{}}'
    message '{"jsonrpc":"2.0","id":2,"method":"workspace/executeCommand","params":{"command":"xcsh.list","arguments":[{"cwd":"file:///Z:/work/project"}]}}'
    message '{"jsonrpc":"2.0","id":3,"method":"shutdown"}'
    message '{"jsonrpc":"2.0","method":"exit"}'
  } | wine /work/project timeout 120 wine64 /work/xcsh-ls.exe --stdio
}

# tests PACKAGE [SKIP [RUN]]: the tests of a package, except those whose names match SKIP, or only those that match RUN.
tests() {
  local test=$work/${1//\//-}.exe
  GOOS=windows CGO_ENABLED=0 go test -c -vet=off -o "$test" "./$1" &&
    wine "/repository/$1" timeout 600 wine64 "/work/${test##*/}" -test.timeout 590s -test.skip "${2:-^$}" -test.run "${3:-.}"
}

mkdir "$work/project"
echo 'hello file' >"$work/project/a.txt"
GOOS=windows CGO_ENABLED=0 go build -buildvcs=false -o "$work/xcsh-ls.exe" ./cmd/xcsh-ls || exit 1
# The first start makes the directory of Wine; a server that stays saves the start of each program.
check "Wine starts" wine /work sh -c 'wineserver -p600; wine64 /work/xcsh-ls.exe version'
check "version" says "xcsh-ls" wine /work/project timeout 120 wine64 /work/xcsh-ls.exe version
check "a turn" says "This is the offline demo" wine /work/project timeout 120 wine64 /work/xcsh-ls.exe run --model offline/demo hello
check "list" says "hello" wine /work/project timeout 120 wine64 /work/xcsh-ls.exe list
check "an edit" wine /work/project timeout 120 wine64 /work/xcsh-ls.exe run --model offline/demo --approval yolo "edit a.txt: hello => HELLO"
check "the edited file" grep -qx 'HELLO file' "$work/project/a.txt"
check "doctor" says "No problems found" wine /work/project timeout 120 wine64 /work/xcsh-ls.exe doctor
check "a language server" says '"firstMessage":"hello"' conversation

# Wine creates no symbolic links, although it reports success.
links='^(TestTheLimitConcernsOurFilesOnly|TestAnotherSpellingOfThePathIsWaitedForToo)'
check "internal/durable" tests internal/durable
check "internal/procgroup: job objects" tests internal/procgroup
check "internal/dirwatch" tests internal/dirwatch
check "internal/spool" tests internal/spool
check "session/internal/disk" tests session/internal/disk
check "session/internal/indexfile" tests session/internal/indexfile "$links"
# On a busy machine, ten processes that compete for one lock have it later than after the half second that each waits.
check "session/lock" tests session/lock "$links|^TestProcessesCountTogetherAlthoughTheyCrash"
# The other tests have paths of Unix in memory, or remove open files.
check "session: open files that are replaced" tests session '' '^(TestACheckKeepsAnIndexFileThatIsRight|TestWritesWaitForTheComparison|TestASessionIsRewritten)'
check "agent/provider/keyvalue" tests agent/provider/keyvalue
wine /work wineserver -k
wine /work wineserver -w # it still writes its files

tally
