#!/usr/bin/env bash
# run.sh NVIM SERVER [-update]
#
#   PICTURES  directory for every screen with its colors, for picture.mjs
#
# Drives a real Neovim in tmux with keys and compares the screen with
# golden/*.txt; -update writes them. Waits at most ten seconds for the expected screen. Prints "ok N name" or "not ok N name" per screen; the last line
# is "N passed, N failed".
set -uo pipefail

if [ $# -lt 2 ]; then
  echo "usage: run.sh NVIM SERVER [-update]" >&2
  exit 2
fi
nvim=$(realpath -e "$1") || exit 2
server=$(realpath -e "$2") || exit 2
update=${3:-}
screen=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

work=$(mktemp -d)
mkdir -p "$work/home/run" "$work/project"
chmod 700 "$work/home/run"
printf 'one\ntwo\n' >"$work/project/a.txt"
cd "$work/project" || exit 2

isolated=(env -i PATH="$PATH" LANG=C.UTF-8 TERM=screen-256color TMPDIR="$work" HOME="$work/home"
  XDG_CONFIG_HOME="$work/home/config" XDG_DATA_HOME="$work/home/data" XDG_STATE_HOME="$work/home/state"
  XDG_CACHE_HOME="$work/home/cache" XDG_RUNTIME_DIR="$work/home/run" XCSH_LS_NO_DETECT=1
  XCSH_TEST_SERVER="$server")
conf=/dev/null
if [ -n "${PICTURES-}" ]; then # colours as a terminal of today has them; the text is the same
  isolated+=(COLORTERM=truecolor)
  conf=$work/tmux.conf
  printf '%s\n' 'set -g default-terminal tmux-256color' 'set -as terminal-features ",*:RGB"' >"$conf"
fi
tmux=("${isolated[@]}" tmux -S "$work/tmux" -f "$conf")

# pause: a moment, between two looks at the same thing.
exec {never}<> <(:)
pause() { read -rt 0.05 -u "$never" || :; }

# The server ends a moment after its editor, and until then it writes.
editor=
trap '"${tmux[@]}" kill-server 2>/dev/null; kill "$editor" 2>/dev/null; wait 2>/dev/null
  for _ in $(seq 100); do rm -rf "$work" 2>/dev/null && break; pause; done' EXIT

# begin INIT [COLUMNS LINES]: starts an editor with these settings, in place of the one before. The editor and its
# screen are two processes, because a Neovim that was only unpacked cannot start its own editor.
begin() {
  if [ -n "$editor" ]; then
    "${tmux[@]}" kill-server 2>/dev/null
    kill "$editor" 2>/dev/null
    wait "$editor" 2>/dev/null
    rm -f "$work/nvim.sock"
  fi
  "${isolated[@]}" "$nvim" --headless --listen "$work/nvim.sock" -n -i NONE -u "$screen/$1.lua" \
    "$work/project/a.txt" </dev/null >"$work/nvim.log" 2>&1 &
  editor=$!
  for _ in $(seq 200); do
    [ ! -S "$work/nvim.sock" ] || break
    pause
  done
  "${tmux[@]}" new-session -d -x "${2:-110}" -y "${3:-48}" "'$nvim' --server '$work/nvim.sock' --remote-ui"
}

# look: the screen without what differs from run to run, or between versions of Neovim.
look() {
  "${tmux[@]}" capture-pane -p | sed -E 's/ *$//; s/\b[0-9]{2}:[0-9]{2}\b/hh:mm/; s/[0-9]+[sm] ago/just now/; s,^(xcsh://[a-z]+) \[-\]$,\1,; s,^(xcsh-(review|change)://[^ ]+) \[-\],\1    ,'
}

keys() { "${tmux[@]}" send-keys "$@"; }

# remote EXPR: evaluates an expression in the editor.
remote() { "${isolated[@]}" "$nvim" --server "$work/nvim.sock" --remote-expr "$1"; }

# becomes EXPR VALUE: waits until an expression has a value in the editor, which handles keys later than they are sent.
becomes() {
  for _ in $(seq 200); do
    [ "$(remote "$1")" != "$2" ] || break
    pause
  done
}

number=0
passed=0
failed=0

# expect NAME: the screen becomes golden/NAME.txt.
expect() {
  local golden=$screen/golden/$1.txt now='' before='-'
  number=$((number + 1))
  for _ in $(seq 200); do
    now=$(look)
    if [ -n "$update" ]; then
      # A screen that stays as it is for a while is taken for the one that is meant.
      if [ "$now" = "$before" ]; then
        still=$((still + 1))
        [ "$still" -lt 20 ] || break
      else
        still=0
      fi
      before=$now
    elif [ "$now" = "$(cat "$golden")" ]; then
      break
    fi
    pause
  done
  [ -z "${PICTURES-}" ] || "${tmux[@]}" capture-pane -e -N -p >"$PICTURES/$1.ansi"
  [ -z "$update" ] || printf '%s\n' "$now" >"$golden"
  if [ "$now" = "$(cat "$golden")" ]; then
    passed=$((passed + 1))
    echo "ok $number the screen is golden/$1.txt"
  else
    failed=$((failed + 1))
    echo "not ok $number the screen is golden/$1.txt"
    diff -u "$golden" <(printf '%s\n' "$now") | sed 's/^/  /'
    sed 's/^/  editor: /' "$work/nvim.log"
  fi
}

begin init
expect start
keys ':Xcsh' Enter
expect empty
keys q
keys ':XcshChat' Enter
expect chat

# A prompt, written and sent in insert mode; more is typed while the answer is written.
keys i 'what is in a.txt?' C-s 'and what'
expect streaming

remote 'v:lua.release()' >/dev/null
expect answered

# What the tool said is folded; Enter opens it.
keys Escape C-w k
keys '/read the' Enter jj Enter
expect opened

# A tool call that waits, and its change.
keys G i C-u 'change it' C-s
expect asking
keys Escape C-w k a
expect allowed
keys ':XcshLabel begin' Enter
expect entries
keys 3 Enter
expect labeled
keys '?'
expect keys
keys q

# The session of this terminal is the one that "xcsh --continue" here would continue.
# Neovim 0.10 does not know in which terminal a screen is that it did not start itself.
number=$((number + 1))
tty=$("${tmux[@]}" display-message -p '#{pane_tty}')
crumb=$work/home/.xcsh/agent/terminal-sessions/$(tr / - <<<"${tty#/dev/}")
knows=$(remote "has('nvim-0.11')")
if [ "$knows" = 0 ] && [ ! -e "$crumb" ] || grep -qx "$work/project" "$crumb"; then
  passed=$((passed + 1))
  echo "ok $number the breadcrumb is that of the terminal"
else
  failed=$((failed + 1))
  echo "not ok $number the breadcrumb is that of the terminal: $tty," "$work"/home/.xcsh/agent/terminal-sessions/*
fi

# A change of a line in the text: a mark and a message, while the user types elsewhere in it.
keys q ':1XcshInline in German' Enter
expect inline
# Typed characters go to the text; only the user's own command opens the change.
keys Go 'a yes, 1' Enter d Escape ':XcshReview' Enter
expect review
# In a tab, the change is one of the text as it is now, and the user may change it, too.
keys ':XcshReview tab' Enter
expect review-tab
keys A ', bitte' Escape ':w' Enter
expect accepted

# A permission for a turn without a chat. Its message fits on one line, so it takes no key.
keys ':XcshPrompt build it' Enter A ' and'
expect typing
keys ' 1' Enter 'ay' Escape
expect waiting
keys ':XcshApprovals' Enter
expect permission
keys d
expect denied

# The list of sessions, and a question.
keys ':XcshResume' Enter
expect resume
keys q Enter ':XcshRename' Enter
expect rename
keys 'About a file' Enter
expect renamed

# The start page, with a session whose title tries to be something else.
hostile=$(echo "$work"/home/.xcsh/agent/sessions/--*-project--)/2026-02-16T10-20-00-000Z_15d56a686bbe6801.jsonl
printf '{"type":"session","version":3,"id":"15d56a686bbe6801","timestamp":"%s","cwd":"%s","title":"%s"}\n' \
  2026-02-16T10:20:00.000Z "$work/project" 'sky \u202e\u061clive\u2066 \u001b[7mquit' >"$hostile"
touch -d '90 minutes ago' "$hostile"
keys ':Xcsh' Enter
expect recent

# A long conversation: earlier messages are added above the screen, and the server searches them.
long=${hostile%/*}/2026-02-16T10-30-00-000Z_15d56a686bbe6802.jsonl
{
  printf '{"type":"session","version":3,"id":"%s","timestamp":"%s","cwd":"%s"}\n' \
    15d56a686bbe6802 2026-02-16T10:30:00.000Z "$work/project"
  parent=null
  for i in $(seq 1500); do
    printf '{"type":"message","id":"%08x","parentId":%s,"timestamp":"2026-02-16T10:30:00.000Z",' "$i" "$parent"
    printf '"message":{"role":"user","content":"question %d"}}\n' "$i"
    parent=$(printf '"%08x"' "$i")
  done
} >"$long"
keys q ':XcshResume 15d56a686bbe6802' Enter ':XcshChat' Enter
expect newest
keys C-w k gg
expect earlier
keys g/ 'question 77' Enter
expect hits
keys 2 Enter
expect hit

# In a small terminal, the conversation fills its window also after lines were removed.
printf 'one\ntwo\n' >"$work/project/a.txt"
cat >"$work/project/long.lua" <<'END'
local items = {}
for i = 1, 1500 do
  items[i] = ('item %d of the list with a name that is longer than this screen, which has 80 columns'):format(i)
end
vim.schedule(function()
  require('xcsh.pickers.select').choose(items, { prompt = 'Choose' }, function(item)
    require('xcsh.view').notify('Chosen: ' .. item:sub(1, 40))
  end)
end)
END
begin init 80 24
expect small-start
keys ':XcshChat' Enter
expect small-chat
keys i 'what is in a.txt?' C-s
expect small-held
remote 'v:lua.release()' >/dev/null
expect small-answered
keys 'change it' C-s
expect small-asking
keys Escape C-w k a
expect small-allowed
keys ':XcshNew' Enter
expect small-new
keys ':XcshResume 15d56a686bbe6802' Enter
expect small-resumed
remote 'v:lua.kill()' >/dev/null
expect small-restarted

# A list that is longer than the screen never waits behind "-- More --".
keys ':luafile long.lua' Enter
expect list-first
keys 19 Enter
expect list-next
keys 20 Enter 'list 1234' Enter
expect list-found
keys 1 Enter
expect list-chosen

# The first minute: no model and no key. The prompt waits for a choice, and is then answered.
begin first 80 24
expect first-start
keys ':XcshChat' Enter
expect first-chat
keys i 'hello there' C-s
expect first-ways
keys 7 Enter
expect first-services
keys q
expect first-canceled
keys C-s
expect first-again
keys 8 Enter
expect first-answered

# Another program answers. It starts, and its extensions ask, while the user types elsewhere.
printf 'one\ntwo\n' >"$work/project/a.txt"
begin engine
expect start
keys ':XcshChat' Enter i /re Tab
expect slash
keys C-u 'deploy it' C-s
remote 'v:lua.play("start")' >/dev/null
expect starting
keys 'and'
remote 'v:lua.play("answer")' >/dev/null
keys ' then'
expect asked
keys Escape C-w k A
expect dialog
keys 1 Enter
remote 'v:lua.play("gone")' >/dev/null
keys A G o '- more'
expect editor
keys Escape ':wq' Enter
becomes 'bufwinnr("xcsh://question/1")' -1
remote 'v:lua.play("done")' >/dev/null
remote 'v:lua.play("crash")' >/dev/null
expect crash
keys /Error Enter Enter
expect output
keys E
expect choices
keys q Enter ':XcshEngines' Enter
expect engines

# What a session did: signs and replaced lines in the file, the list, a comparison, and a rewind.
printf 'eins\nzwei\nvier\n\nfünf\nsechs\n' | sed '4d' >"$work/project/a.txt"
printf 'new\n' >"$work/project/b.txt"
begin changes 100 30
expect changes-start
keys ':XcshChat' Enter
expect changes-chat
remote 'v:lua.play("turn")' >/dev/null
remote 'v:lua.play("change")' >/dev/null
expect changes-card
keys ':XcshChat!' Enter
expect changes-marks
keys gxk
expect changes-kept
keys ':XcshChanges' Enter
expect changes-list
keys ':cclose' Enter ']f'
expect changes-compare
keys ']f'
becomes 'expand("%:t")' b.txt # its lines differ between versions
keys ':tabclose' Enter ':XcshRewind' Enter
expect rewind-prompts
keys 1 Enter 1 Enter
expect rewind-plan
keys X
expect rewind-left-out
keys y
expect rewind-done

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
