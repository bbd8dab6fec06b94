#!/usr/bin/env bash
# manifests.sh: runs the checkers of others over the files for package managers and the shell scripts: ShellCheck, the parser
# of Nix, Emacs' byte compiler with checkdoc and package-lint, actionlint, and the packager of the dev containers. Go tests check the rest
# (scripts/packaging). It needs Emacs and npm, and downloads the others of Debian trixie below $XDG_CACHE_HOME/xcsh-ls.
#
# The last line has the number of passed checks.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
# shellcheck source=scripts/versions.env
. scripts/versions.env
# shellcheck source=scripts/retry.sh
. scripts/retry.sh
cache=${XDG_CACHE_HOME:-$HOME/.cache}/xcsh-ls
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# shellcheck source=scripts/check.sh
. scripts/check.sh

shell_scripts() {
  scripts/get-debian.sh shellcheck shellcheck trixie "$cache/shellcheck" &&
    git ls-files -z '*.sh' .ci/run | xargs -0 "$cache/shellcheck/bin/shellcheck" -x -S warning &&
    # makepkg reads the variables of the package, and sets srcdir and pkgdir.
    "$cache/shellcheck/bin/shellcheck" -s bash -S warning -e SC2034,SC2154 packaging/aur/PKGBUILD
}

nix_flake() {
  scripts/get-debian.sh nix-bin nix-instantiate trixie "$cache/nix" &&
    "$cache/nix/bin/nix-instantiate" --parse packaging/nix/flake.nix
}

emacs_package() {
  scripts/get-debian.sh "elpa-package-lint elpa-compat" - trixie "$cache/package-lint" || return 1
  local library=$cache/package-lint/usr/share/emacs/site-lisp/elpa-src dir load=()
  for dir in /usr/share/emacs/site-lisp/elpa/{eglot,xref,project,seq}-[0-9]*; do # of Emacs before 29
    if [ -d "$dir" ]; then load+=(-L "$dir"); fi
  done
  cp packaging/emacs/xcsh-ls.el "$work/"
  emacs -Q --batch "${load[@]}" --eval '(setq byte-compile-error-on-warn t)' -f batch-byte-compile "$work/xcsh-ls.el" &&
    emacs -Q --batch "${load[@]}" --eval "(dolist (dir (directory-files \"$library\" t \"^[a-z]\")) (add-to-list 'load-path dir))" \
      -l checkdoc -l package-lint --eval "(let ((found nil) ; eglot is in GNU ELPA, whose list is not downloaded
            (package-archive-contents (list (list 'eglot (package-desc-create :name 'eglot :version '(1 9) :archive \"gnu\")))))
        (with-current-buffer (find-file-noselect \"$work/xcsh-ls.el\")
          (let ((checkdoc-create-error-function (lambda (text start _end &optional _unfixable) (push (list (line-number-at-pos start) text) found) nil)))
            (checkdoc-current-buffer t))
          (dolist (problem (package-lint-buffer)) ; eglot is a dependency, also where Emacs doesn't include it
            (unless (string-match-p \"need .eglot\" (nth 3 problem)) (push problem found))))
        (dolist (problem found) (message \"%S\" problem))
        (kill-emacs (if found 1 0)))"
}

dev_container_feature() {
  retry npm install --prefix "$cache/devcontainers" --no-audit --no-fund --ignore-scripts --prefer-offline --loglevel=error "@devcontainers/cli@$DEVCONTAINERS_CLI_VERSION" &&
    "$cache/devcontainers/node_modules/.bin/devcontainer" features package --force-clean-output-folder --output-folder "$work/feature" devcontainer-feature/src &&
    [ -s "$work/feature/devcontainer-feature-xcsh-ls.tgz" ]
}

workflows() {
  # It passes the scripts in the workflows to ShellCheck.
  PATH=$cache/shellcheck/bin:$PATH retry go run "github.com/rhysd/actionlint/cmd/actionlint@$ACTIONLINT_VERSION" .github/workflows/*.yml
}

check "ShellCheck" shell_scripts
check "the workflows of GitHub" workflows
check "the flake for Nix" nix_flake
check "the package for Emacs" emacs_package
check "the dev container feature" dev_container_feature
tally
