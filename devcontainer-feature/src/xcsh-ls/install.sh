#!/bin/sh
# install.sh: installs a release of xcsh-ls in a container during its build.
#
# VERSION, SOURCE, TEAMSERVICE and TEAM are the options of devcontainer-feature.json; _REMOTE_USER is the
# container's user. PREFIX is the root directory of the installation, for tests; "" is the
# system. Nothing is installed unless the archive's SHA-256 checksum is that in checksums.txt.
set -eu

version=${VERSION:-latest}
source=${SOURCE:-}
service=${TEAMSERVICE:-}
team=${TEAM:-}
user=${_REMOTE_USER:-root}
prefix=${PREFIX:-}
releases=https://github.com/xcsh-ls/xcsh-ls/releases

die() {
  echo "xcsh-ls feature: $*" >&2
  exit 1
}

# They become part of shell scripts.
case $service in *[!A-Za-z0-9._-]*) die "teamService may contain only letters, digits, dots, underscores and hyphens" ;; esac
case $team in *[!A-Za-z0-9._\ -]*) die "team may contain only letters, digits, spaces, dots, underscores and hyphens" ;; esac

case $(uname -m) in
x86_64 | amd64) arch=amd64 ;;
aarch64 | arm64) arch=arm64 ;;
*) die "there is no release for the processor $(uname -m)" ;;
esac
[ "$(uname -s)" = Linux ] || die "there is no release for containers of $(uname -s)"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# download URL FILE
download() {
  case $1 in
  file://*) cp -- "${1#file://}" "$2" || die "${1#file://} does not exist" ;;
  *)
    if command -v curl >/dev/null 2>&1; then
      curl -fsSL --retry 3 -o "$2" "$1" || die "$1 cannot be downloaded"
    elif command -v wget >/dev/null 2>&1; then
      wget -q -O "$2" "$1" || die "$1 cannot be downloaded"
    elif command -v apt-get >/dev/null 2>&1 && [ -z "$prefix" ]; then
      apt-get -qq update && apt-get -qq install -y --no-install-recommends curl ca-certificates >/dev/null
      rm -rf /var/lib/apt/lists/*
      curl -fsSL --retry 3 -o "$2" "$1" || die "$1 cannot be downloaded"
    else
      die "curl or wget is required to download $1"
    fi
    ;;
  esac
}

if [ -z "$source" ]; then
  if [ "$version" = latest ]; then
    source=$releases/latest/download
  else
    source=$releases/download/v${version#v}
  fi
fi
download "$source/checksums.txt" "$work/checksums.txt"

# The archive's name contains the version. For "latest", only checksums.txt has it.
ending=_linux_$arch.tar.gz
if [ "$version" = latest ]; then
  archive=$(awk -v e="$ending" '{ n = length($2) - length(e) + 1 } n > 0 && substr($2, n) == e && $2 ~ /^xcsh-ls_/ { print $2 }' "$work/checksums.txt")
else
  archive=xcsh-ls_${version#v}$ending
fi
if [ -z "$archive" ] || [ "$(printf "%s\n" "$archive" | wc -l)" -ne 1 ]; then
  die "$source/checksums.txt does not name one archive for linux $arch"
fi
expected=$(awk -v a="$archive" '$2 == a { print $1 }' "$work/checksums.txt")
[ -n "$expected" ] || die "$source/checksums.txt does not name $archive"

download "$source/$archive" "$work/$archive"
actual=$(sha256sum "$work/$archive" | cut -d ' ' -f 1)
[ "$actual" = "$expected" ] || die "the SHA-256 checksum of $archive is $actual, not $expected as in checksums.txt; nothing was installed"

mkdir "$work/unpacked"
tar -xzf "$work/$archive" -C "$work/unpacked" || die "$archive cannot be unpacked"
[ -f "$work/unpacked/xcsh-ls" ] || die "$archive does not contain xcsh-ls"

# place MODE FILE DIRECTORY
place() {
  mkdir -p "$prefix$3"
  cp -- "$2" "$prefix$3/"
  chmod "$1" "$prefix$3/${2##*/}"
}
place 755 "$work/unpacked/xcsh-ls" /usr/local/bin
if [ -d "$work/unpacked/completions" ]; then
  place 644 "$work/unpacked/completions/xcsh-ls" /usr/local/share/bash-completion/completions
  place 644 "$work/unpacked/completions/_xcsh-ls" /usr/local/share/zsh/site-functions
  place 644 "$work/unpacked/completions/xcsh-ls.fish" /usr/local/share/fish/vendor_completions.d
fi

# The team's store: the options, for login shells and thereby for editors, and the commands of the start of the container and of
# an attached editor. Nothing is sent before the user agreed: with "xcsh-ls team share", or with XCSH_TEAM_SHARE among their own secrets.
share=$prefix/usr/local/share/xcsh-ls
mkdir -p "$share" "$prefix/etc/profile.d"
cat >"$prefix/etc/profile.d/xcsh-ls-team.sh" <<END
if [ -z "\${XCSH_TEAM_SERVICE:-}" ] && [ -n '$service' ]; then export XCSH_TEAM_SERVICE='$service'; fi
if [ -z "\${XCSH_TEAM:-}" ] && [ -n '$team' ]; then export XCSH_TEAM='$team'; fi
END
cat >"$share/team-start" <<END
#!/bin/sh
# Sends the sessions of terminal programs to the team's store while the container runs, if the user has one.
. '$prefix/etc/profile.d/xcsh-ls-team.sh'
[ -n "\${XCSH_TEAM_URL:-}\${XCSH_TEAM_SERVICE:-}\${PGSERVICE:-}\${PGHOST:-}" ] || exit 0
umask 077
log=\${PI_CODING_AGENT_DIR:-\$HOME/.xcsh/agent}/xcsh-ls/team
mkdir -p "\$log" || exit 0
nohup '$prefix/usr/local/bin/xcsh-ls' team watch </dev/null >"\$log/watch.log" 2>&1 &
END
cat >"$share/team-attach" <<END
#!/bin/sh
# Pulls the newest sessions of the project, so that they can be continued at once. The container is usable without them.
. '$prefix/etc/profile.d/xcsh-ls-team.sh'
[ -n "\${XCSH_TEAM_URL:-}\${XCSH_TEAM_SERVICE:-}\${PGSERVICE:-}\${PGHOST:-}" ] || exit 0
'$prefix/usr/local/bin/xcsh-ls' team pull --project --newest 20 >/dev/null || echo "xcsh-ls: not all sessions of the team were pulled" >&2
END
chmod 644 "$prefix/etc/profile.d/xcsh-ls-team.sh"
chmod 755 "$share/team-start" "$share/team-attach"

# An empty volume gets its owner and mode from the directory it is mounted on, so that the user
# can write to it without root. Only the owner can read the conversations.
state=$prefix/var/lib/xcsh-ls
mkdir -p "$state/agent"
chmod 700 "$state" "$state/agent"
if [ "$(id -u)" -eq 0 ]; then
  chown -R "$user" "$state" || die "the user $user does not exist"
fi

"$prefix/usr/local/bin/xcsh-ls" version
