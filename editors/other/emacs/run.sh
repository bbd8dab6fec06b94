#!/usr/bin/env bash
# run.sh SERVER: drives a real Emacs with eglot, first with the snippet of docs/editors.md, then with the
# package packaging/emacs/xcsh-ls.el, which it also compiles: lists the sessions, prompts, resumes, and
# answers a command's question. Needs the Debian packages emacs-nox and elpa-eglot (in Emacs 29 and
# newer eglot is included). The last line is "N passed, N failed".
set -euo pipefail
server=$(realpath -e "${1:?usage: run.sh SERVER}")
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
command -v emacs >/dev/null || { echo 'run.sh: there is no emacs; install the packages emacs-nox and elpa-eglot' >&2 && exit 1; }
work=$(mktemp -d)
# A server ends a moment after its editor, and until then it writes.
trap 'for _ in $(seq 100); do rm -rf "$work" 2>/dev/null && break; sleep 0.1; done' EXIT
# The snippet is the one that people copy.
# shellcheck disable=SC2016
sed -n '/^```elisp$/,/^```$/p' "$here/../../../docs/editors.md" | sed '/^```/d' >"$work/snippet.el"
grep -q eglot-server-programs "$work/snippet.el" || { echo 'run.sh: docs/editors.md has no snippet for Emacs' >&2 && exit 1; }
ln -s "$server" "$work/xcsh-ls"
load=()
for dir in /usr/share/emacs/site-lisp/elpa/{eglot,xref,project,seq}-[0-9]*; do
  if [ -d "$dir" ]; then load+=(-L "$dir"); fi
done

# emacs_test NAME: runs NAME.el in a home and a folder of its own.
emacs_test() {
  mkdir -p "$work/$1/home" "$work/$1/folder/.git"
  printf 'hello there\n' >"$work/$1/folder/notes.md"
  (cd "$work/$1/folder" && env -i PATH="$work:$PATH" HOME="$work/$1/home" TMPDIR="$work/$1" LANG=C.UTF-8 TERM=dumb XCSH_LS_NO_DETECT=1 \
    SNIPPET="$work/snippet.el" PACKAGE="$here/../../../packaging/emacs/xcsh-ls.el" \
    timeout 60 emacs --batch -Q "${load[@]}" -l "$here/checks.el" -l "$here/$1.el" 2>&1) | tee "$work/out" || true
  # One that ended early has not counted its checks.
  tail -n 1 "$work/out" | grep -E '^[0-9]+ passed, [0-9]+ failed$' >>"$work/counts" || echo '0 passed, 1 failed' >>"$work/counts"
}
emacs_test eglot-test
emacs_test package-test
awk '{ passed += $1; failed += $3 } END { print passed " passed, " failed " failed"; exit failed > 0 }' "$work/counts"
