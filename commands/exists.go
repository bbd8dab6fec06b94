package commands

import (
	"context"
	"path/filepath"
)

var existsSession = New(Spec{
	Name: "xcsh.exists", Title: "Session Exists", Flags: ReadOnly, Arg: "source",
	Doc: "Whether a session has a file where sessions are kept; a damaged one counts.",
}, runExists)

// ExistsResult says whether there is such a session.
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
		return ExistsResult{Exists: path != "" && env.exists(path), Path: path}, nil
	}
	source := unquoted(a.Source)
	if path, isPath, err := env.Finder.TargetPath(cwd, source); err == nil && isPath && env.isOpen(path) {
		return ExistsResult{Exists: true, Path: path}, nil // wherever it is
	}
	path, ok, err := env.Finder.Exists(ctx, cwd, source)
	return ExistsResult{Exists: ok, Path: path}, err
}

// isOpen reports whether the file at path is that of a live session. A path with another
// name than all of these is not looked at.
func (env *Env) isOpen(path string) bool {
	if !env.Sessions.LiveNames()[filepath.Base(path)] {
		return false
	}
	_, live := env.Sessions.LiveIn(path)
	return live && env.exists(path)
}
