package commands

import (
	"context"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// Folder is embedded in the arguments of every command: its working directory. Empty means
// the only workspace folder.
type Folder struct {
	Cwd string `json:"cwd,omitempty" jsonschema:"The working directory: an absolute path or a file: URI. Default: the only workspace folder."`
}

func (f *Folder) folder() *Folder { return f }

// cwd returns the working directory of a call. If several folders are open, it asks the user.
func (r resolver) cwd(ctx context.Context, f Folder) (string, error) {
	if f.Cwd == "" {
		folders := r.folders()
		switch len(folders) {
		case 1:
			return folders[0], nil
		case 0:
			return "", fault.New(fault.InvalidArgument, "No workspace folder is open. Pass the directory as \"cwd\".").With("field", "cwd")
		default:
			return r.ask.folder(ctx, folders)
		}
	}
	return directory(f.Cwd, "cwd")
}

// directory returns the path of a directory argument, which must be absolute.
func directory(argument, field string) (string, error) {
	path, err := localPath(argument)
	if err != nil || !filepath.IsAbs(path) || strings.ContainsRune(path, 0) {
		return "", fault.New(fault.InvalidArgument, "%q is not an absolute path or a file: URI.", argument).With("field", field)
	}
	return filepath.Clean(path), nil
}

// absolute resolves a path argument against the working directory of the call. ~/ is the
// home directory.
func (r resolver) absolute(cwd, path, field string) (string, error) {
	local, err := localPath(path)
	if err != nil || local == "" || strings.ContainsRune(local, 0) {
		return "", fault.New(fault.InvalidArgument, "%q is not a path or a file: URI on this machine.", path).With("field", field)
	}
	if rest, home := strings.CutPrefix(local, "~/"); home && r.home != "" {
		local = filepath.Join(r.home, rest)
	}
	if !filepath.IsAbs(local) {
		local = filepath.Join(cwd, local)
	}
	return filepath.Clean(local), nil
}

// localPath converts a file: URI to a path and returns any other string unchanged.
func localPath(s string) (string, error) {
	if len(s) < 5 || !strings.EqualFold(s[:5], "file:") {
		return s, nil
	}
	u, err := url.Parse(s)
	if err != nil {
		return "", err
	}
	if u.Host != "" && u.Host != "localhost" && filepath.Separator == '/' {
		return "", fmt.Errorf("%q is on another machine", s)
	}
	path := u.Path
	// In file:///C:/x, the slash before the drive is not part of the path.
	if len(path) >= 3 && path[0] == '/' && path[2] == ':' && filepath.Separator == '\\' {
		path = path[1:]
	}
	return filepath.FromSlash(path), nil
}
