package find

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"path/filepath"
	"strings"
	"time"
)

// shellLimit is how long the login shell may take.
const shellLimit = 3 * time.Second

// loginPath returns the PATH of a login shell, nil if it cannot be determined in time. The shell's files can print
// anything, so the answer stands between marks that they cannot know. The commands exist in all common shells, also in
// those that are not like sh.
func loginPath(ctx context.Context, run func(context.Context, Command) (string, error), shell, home string) []string {
	var random [8]byte
	_, _ = rand.Read(random[:]) // never fails
	mark := "xcsh-ls-" + hex.EncodeToString(random[:])
	out, err := run(ctx, Command{
		Path: shell, Args: []string{"-lc", "echo " + mark + "; printenv PATH; echo " + mark}, Dir: home, Limit: shellLimit,
	})
	if err != nil && out == "" {
		return nil
	}
	_, rest, ok := strings.Cut(out, mark+"\n")
	list, _, ended := strings.Cut(rest, "\n"+mark)
	if !ok || !ended {
		return nil
	}
	if i := strings.LastIndexByte(list, '\n'); i >= 0 { // warnings of a shell come before
		list = list[i+1:]
	}
	var dirs []string
	for dir := range strings.SplitSeq(list, ":") {
		if filepath.IsAbs(dir) && len(dirs) < maxDirs {
			dirs = append(dirs, filepath.Clean(dir))
		}
	}
	return dirs
}
