#!/usr/bin/env bash
# run.sh SERVER: drives a real Emacs with eglot and the snippet of docs/editors.md: lists the
# sessions, prompts, resumes, and answers a command's question. Needs the Debian packages emacs-nox
# and elpa-eglot (in Emacs 29 and newer eglot is included). The last line is
# "N passed, N failed".
set -euo pipefail
server=$(realpath -e "${1:?usage: run.sh SERVER}")
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
command -v emacs >/dev/null || { echo 'run.sh: there is no emacs; install the packages emacs-nox and elpa-eglot' >&2 && exit 1; }
work=$(mktemp -d)
# A server ends a moment after its editor, and until then it writes.
trap 'for _ in $(seq 100); do rm -rf "$work" 2>/dev/null && break; sleep 0.1; done' EXIT
mkdir -p "$work/home" "$work/folder/.git"
printf 'hello there\n' >"$work/folder/notes.md"
# The snippet is the one that people copy.
# shellcheck disable=SC2016
sed -n '/^```elisp$/,/^```$/p' "$here/../../../docs/editors.md" | sed '/^```/d' >"$work/snippet.el"
grep -q eglot-server-programs "$work/snippet.el" || { echo 'run.sh: docs/editors.md has no snippet for Emacs' >&2 && exit 1; }
ln -s "$server" "$work/xcsh-ls"
cd "$work/folder"
load=()
for dir in /usr/share/emacs/site-lisp/elpa/{eglot,xref,project,seq}-[0-9]*; do
  if [ -d "$dir" ]; then load+=(-L "$dir"); fi
done
env -i PATH="$work:$PATH" HOME="$work/home" LANG=C.UTF-8 TERM=dumb XCSH_LS_NO_DETECT=1 SNIPPET="$work/snippet.el" \
  timeout 60 emacs --batch -Q "${load[@]}" -l "$here/eglot-test.el" 2>&1
