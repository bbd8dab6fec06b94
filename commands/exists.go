package commands

import (
	"context"
	"path/filepath"

	"github.com/spf13/afero"
)

var existsSession = New(Spec{
	Name: "xcsh.exists", Title: "Session Exists", Flags: ReadOnly, Arg: "source", Early: true,
	Doc: "Report whether a session has a file in a sessions directory. A damaged file counts.",
}, runExists)

// ExistsResult reports whether the session exists.
type ExistsResult struct {
	Exists bool   `json:"exists"`
	Path   string `json:"path,omitempty" jsonschema:"The session's file."`
}

func runExists(ctx context.Context, env *Env, a Subject) (ExistsResult, error) {
	cwd, err := env.cwd(ctx, a.Folder)
	if err != nil {
		return ExistsResult{}, err
	}
	if a.Source == "" {
		live, err := env.Sessions.Session(ctx, cwd)
		if err != nil {
			return ExistsResult{}, err
		}
		path := live.File()
		return ExistsResult{Exists: path != "" && exists(env.Fs, path), Path: path}, nil
	}
	path, ok, err := env.resolver().exists(ctx, cwd, unquoted(a.Source))
	return ExistsResult{Exists: ok, Path: path}, err
}

// exists reports whether the session that name stands for has a file in a sessions directory,
// or is live, with a file in any directory.
func (r resolver) exists(ctx context.Context, cwd, name string) (path string, ok bool, err error) {
	if path, isPath, err := r.finder.TargetPath(cwd, name); err == nil && isPath && r.isLive(path) && exists(r.fs, path) {
		return path, true, nil
	}
	return r.finder.Exists(ctx, cwd, name)
}

// isLive reports whether the file at path belongs to a live session. The name is compared
// first, which needs no access to the file.
func (r resolver) isLive(path string) bool {
	if !r.sessions.LiveNames()[filepath.Base(path)] {
		return false
	}
	_, live := r.sessions.LiveIn(path)
	return live
}

// exists reports whether there is anything at path.
func exists(fs afero.Fs, path string) bool {
	_, err := fs.Stat(path)
	return err == nil
}
