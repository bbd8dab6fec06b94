#!/usr/bin/env bash
# mirror-neovim.sh DIRECTORY [TAG]: makes DIRECTORY a git repository whose root is editors/neovim, which
# plugin managers can install by its address. They need the plugin at the root of a repository.
#
# DIRECTORY is missing, empty, or an earlier mirror without changes of its own. The script commits if
# a file changed. TAG, by default the tag of the current commit, tags the result; an existing tag
# never moves. Nothing is pushed.
set -euo pipefail

fail() {
  echo "mirror-neovim.sh: $*" >&2
  exit 1
}

mirror=${1:?usage: mirror-neovim.sh DIRECTORY [TAG]}
mkdir -p "$mirror"
mirror=$(cd "$mirror" && pwd -P)
cd "$(dirname "${BASH_SOURCE[0]}")/.."
plugin=editors/neovim
tag=${2-$(git describe --tags --exact-match 2>/dev/null || true)}
[[ -z $tag || $tag =~ ^v[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$ ]] || fail "$tag is not a version tag such as v1.2.3"

# The user's hooks, signatures and line endings would make a mirror depend on the machine. GIT_DIR and
# similar variables, as git sets them for a hook, would direct the commands to another repository.
unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE
in_mirror() {
  git -C "$mirror" -c core.hooksPath=/dev/null -c core.autocrlf=false -c core.excludesFile=/dev/null \
    -c commit.gpgSign=false -c tag.gpgSign=false \
    -c user.name='The xcsh-ls authors' -c user.email=noreply@xcsh-ls.invalid "$@"
}

if [ -e "$mirror/.git" ]; then
  [ -z "$(in_mirror status --porcelain)" ] || fail "$mirror has changes; commit or discard them"
  if in_mirror rev-parse -q --verify HEAD >/dev/null && [ ! -e "$mirror/plugin/xcsh.lua" ]; then
    fail "$mirror is not a mirror of the plugin; choose another directory"
  fi
elif [ -n "$(ls -A "$mirror")" ]; then
  fail "$mirror is neither empty nor a git repository"
else
  in_mirror init -q -b main
fi
in_mirror ls-files -z | (cd "$mirror" && xargs -0 rm -f --)

# Tests need the rest of the repository. The notices of THIRD_PARTY_NOTICES.txt are about the server;
# the plugin contains nothing by others.
cp -R "$plugin"/{doc,lua,lsp,plugin,.gitignore} LICENSE "$mirror/"
rm -f "$mirror/doc/tags"
# Links that leave the directory lead to the version of the main repository that the mirror shows.
main=https://github.com/xcsh-ls/xcsh-ls
sed -E -e '/^## Test$/,$d' \
  -e "s|!\[([^]]*)\]\(\.\./\.\./|![\1]($main/raw/${tag:-main}/|g" \
  -e "s|\]\(\.\./\.\./|]($main/blob/${tag:-main}/|g" "$plugin/README.md" >"$mirror/README.md"
cat >>"$mirror/README.md" <<END
## Development

This repository is a copy of \`$plugin\` in [xcsh-ls]($main), made for each release. Report problems and
propose changes there.
END

in_mirror add -A
if in_mirror rev-parse -q --verify HEAD >/dev/null && in_mirror diff --cached --quiet; then
  echo "$mirror is up to date"
else
  in_mirror commit -q -m "xcsh.nvim ${tag:-(unreleased)}"
  echo "$mirror has a new commit"
fi
[ -n "$tag" ] || exit 0
if tagged=$(in_mirror rev-parse -q --verify "refs/tags/$tag^{commit}"); then
  [ "$tagged" = "$(in_mirror rev-parse HEAD)" ] || fail "$tag already has other files; a published version never changes"
else
  in_mirror tag -a -m "xcsh.nvim $tag" "$tag"
fi
