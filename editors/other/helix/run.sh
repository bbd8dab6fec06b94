#!/usr/bin/env bash
# run.sh HX SERVER: drives a real Helix in tmux, with the snippet of docs/editors.md: prompts, starts
# a new session, resumes, and prompts again, by command names only. Needs tmux. The last line is "N passed, N failed".
set -euo pipefail
hx=$(command -v "${1:?usage: run.sh HX SERVER}")
server=$(realpath -e "${2:?usage: run.sh HX SERVER}")
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
command -v tmux >/dev/null || { echo 'run.sh: there is no tmux; install the package tmux' >&2 && exit 1; }
work=$(mktemp -d)
socket=$work/tmux
# The server ends a moment after its editor, and until then it writes.
trap 'tmux -S "$socket" kill-server 2>/dev/null || true
  for _ in $(seq 100); do rm -rf "$work" 2>/dev/null && break; sleep 0.1; done' EXIT
mkdir -p "$work/home" "$work/config/helix" "$work/cache" "$work/folder/.git" "$work/bin"
printf 'hello there\n' >"$work/folder/notes.md"
# The snippet is the one that people copy.
# shellcheck disable=SC2016
sed -n '/^```toml$/,/^```$/p' "$here/../../../docs/editors.md" | sed '/^```/d' >"$work/config/helix/languages.toml"
grep -q 'command = "xcsh-ls"' "$work/config/helix/languages.toml" || { echo 'run.sh: docs/editors.md has no snippet for Helix' >&2 && exit 1; }
ln -s "$server" "$work/bin/xcsh-ls"
passed=0 failed=0

screen() { tmux -S "$socket" capture-pane -p -t 0; }
keys() { tmux -S "$socket" send-keys -t 0 "$@"; }

# until_true COMMAND...: whether the command succeeds within 20 seconds.
until_true() {
  local end=$((SECONDS + 20))
  until "$@"; do
    [ "$SECONDS" -lt "$end" ] || return 1
    sleep 0.1
  done
}
# The screen is taken whole before it is looked at: grep leaves at the first match, and a tmux that
# still writes then fails, which pipefail would call "not shown".
shows() {
  local now
  now=$(screen) && grep -qF -- "$1" <<<"$now"
}
shows_not() {
  local now
  now=$(screen) && ! grep -qF -- "$1" <<<"$now"
}

# check NAME COMMAND...: counts the check, which holds when the command succeeds in time.
check() {
  local name=$1
  shift
  if until_true "$@"; then
    passed=$((passed + 1))
    echo "ok $name"
  else
    failed=$((failed + 1))
    echo "not ok $name; the screen:"
    screen
    cat "$work/helix.log" 2>/dev/null || true
  fi
}

# normal_mode leaves insert mode. An Escape and a key that arrive together are a different key, so
# it waits for the mode.
normal_mode() {
  keys Escape
  until_true shows ' NOR ' || echo 'the editor does not leave insert mode' >&2
}
# command_line NAME: runs a command of the server from the command line.
command_line() {
  keys ":lsp-workspace-command $1" Enter
}
# write TEXT: puts a line above the others and saves the file. The text is waited for, because an
# older screen shows the normal mode too.
write() {
  keys ggO "$1"
  until_true shows "$1" || echo 'the editor does not show the text' >&2
  normal_mode
  keys ':w' Enter
}
# sessions EXPECTED...: whether the shell's list of the sessions has each text.
sessions() {
  local list text
  list=$(cd "$work/folder" && HOME=$work/home "$server" list)
  for text; do
    grep -qF -- "$text" <<<"$list" || return 1
  done
}

(cd "$work/folder" && env -i PATH="$work/bin:$PATH" HOME="$work/home" XDG_CONFIG_HOME="$work/config" XDG_CACHE_HOME="$work/cache" \
  LANG=C.UTF-8 SHELL=/bin/sh TMPDIR="${TMPDIR:-/tmp}" XCSH_LS_NO_DETECT=1 \
  tmux -S "$socket" -f /dev/null new-session -d -x 110 -y 40 "TERM=screen-256color exec '$hx' -v --log '$work/helix.log' notes.md")

check 'a text opens' shows 'hello there'
check 'the server is ready' grep -q 'initialized' "$work/helix.log"

# The list is longer than the screen, so it is filtered, with less than the name that is looked for.
keys ':lsp-workspace-command' Enter
check 'the picker opens' shows 'xcsh.new'
keys prompt
check 'the picker has the commands' shows 'xcsh.prompt'
keys Escape
check 'the picker closes' shows_not 'xcsh.prompt'

command_line xcsh.prompt
check 'a file opens for the prompt' shows '/input/message-'
write 'look at notes.md'
check 'the prompt is answered and saved' sessions 'look at notes.md' '4 messages'

command_line xcsh.new
command_line xcsh.prompt
check 'a file opens again' shows_not 'look at notes.md'
write 'a second conversation'
check 'the new session has its own conversation' sessions 'look at notes.md' 'a second conversation'

command_line xcsh.resume
check 'resume asks which' shows 'Select a session to resume'
keys Down Enter
check 'the question closes' shows_not 'Select a session to resume'

command_line xcsh.prompt
check 'a file opens once more' shows_not 'a second conversation'
write 'and again'
check 'the first conversation went on' sessions 'look at notes.md' '8 messages' 'a second conversation'

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
