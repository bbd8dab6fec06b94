package pi

import (
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// resolvePath returns the absolute path of the file that an argument of a tool of pi names, by the rules of pi: unusual
// spaces count as spaces, an @ before the path is left out, and ~ is the home directory.
func resolvePath(path, cwd string) (string, error) {
	path = strings.Map(func(r rune) rune {
		switch {
		case r == 0xA0, r >= 0x2000 && r <= 0x200A, r == 0x202F, r == 0x205F, r == 0x3000:
			return ' '
		}
		return r
	}, path)
	path = strings.TrimPrefix(path, "@")
	if strings.ContainsRune(path, 0) {
		return "", fault.New(fault.InvalidArgument, "The path contains a null character.")
	}
	if path == "~" || strings.HasPrefix(path, "~/") || runtime.GOOS == "windows" && strings.HasPrefix(path, `~\`) {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", err
		}
		return filepath.Join(home, path[1:]), nil
	}
	if strings.HasPrefix(path, "file://") {
		u, err := url.Parse(path)
		if err != nil || u.Host != "" && u.Host != "localhost" || runtime.GOOS == "windows" {
			return "", fault.New(fault.InvalidArgument, "The path is not a file of this machine: %s.", path)
		}
		path = u.Path
	}
	if filepath.IsAbs(path) {
		return filepath.Clean(path), nil
	}
	return filepath.Join(cwd, path), nil
}
