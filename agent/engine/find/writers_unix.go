//go:build unix

package find

import (
	"io/fs"
	"os"
	"os/user"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/afero"
)

// writers implements [Machine.Writers].
func writers(info fs.FileInfo) string {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	if uid := int(stat.Uid); uid != 0 && uid != os.Geteuid() {
		return "the user " + userName(stat.Uid)
	}
	if info.Mode()&fs.ModeSymlink != 0 { // has no permissions of its own
		return ""
	}
	const group, others = 0o020, 0o002
	if info.Mode().Perm()&others != 0 {
		return "every user"
	}
	if info.Mode().Perm()&group != 0 && !ownGroup(stat.Gid, groupFiles) {
		return "the group " + groupName(stat.Gid)
	}
	return ""
}

// files are those with the groups and accounts of the machine.
type files struct{ group, passwd string }

var groupFiles = files{"/etc/group", "/etc/passwd"}

// adminGroup is the group of administrators on macOS. Homebrew gives it its directories.
const adminGroup = 80

// ownGroup reports whether no one but the user and administrators is in a group: a private group, or one that a
// container made for a tool. A group that the machine's files do not describe may have any members.
func ownGroup(gid uint32, in files) bool {
	if gid == 0 || runtime.GOOS == "darwin" && gid == adminGroup {
		return true
	}
	me, err := user.Current()
	if err != nil {
		return false
	}
	mine := func(name string) bool { return name == "" || name == "root" || name == me.Username }
	known := false
	for fields := range lines(in.group, 4) {
		if fields[2] != strconv.Itoa(int(gid)) {
			continue
		}
		known = true
		if slices.ContainsFunc(strings.Split(fields[3], ","), func(name string) bool { return !mine(name) }) {
			return false
		}
	}
	for fields := range lines(in.passwd, 7) {
		if fields[3] == strconv.Itoa(int(gid)) && !mine(fields[0]) {
			return false
		}
	}
	return known
}

// lines yields the lines with n fields of a file such as /etc/passwd.
func lines(path string, n int) func(yield func([]string) bool) {
	return func(yield func([]string) bool) {
		content, err := afero.ReadFile(afero.NewOsFs(), path)
		if err != nil {
			return
		}
		for line := range strings.Lines(string(content)) {
			if fields := strings.Split(strings.TrimSpace(line), ":"); len(fields) == n && !yield(fields) {
				return
			}
		}
	}
}

func userName(uid uint32) string {
	id := strconv.Itoa(int(uid))
	if u, err := user.LookupId(id); err == nil {
		return u.Username
	}
	return id
}

func groupName(gid uint32) string {
	id := strconv.Itoa(int(gid))
	if g, err := user.LookupGroupId(id); err == nil {
		return g.Name
	}
	return id
}
