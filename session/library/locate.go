package library

import (
	"context"
	"errors"
	"path/filepath"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session/internal/disk"
)

// Exists reports whether there is a session that target names, and its file. A damaged one
// counts. Only places where sessions are kept are searched: a path that leads anywhere
// else, also through a link, is an error of kind outsideRoot. Several sessions are an
// error of kind ambiguous. For the rest see [Finder.Resolve].
func (f Finder) Exists(ctx context.Context, cwd, target string) (path string, ok bool, err error) {
	path, isPath, err := f.TargetPath(cwd, target)
	if err != nil {
		return "", false, err
	}
	if isPath && !isBareName(target) {
		return f.isSessionAt(path)
	}
	for strings.HasSuffix(target, ".jsonl") { // otherwise Resolve would look beside the sessions first
		target = strings.TrimSuffix(target, ".jsonl")
	}
	resolution, err := f.Resolve(ctx, cwd, target, ResolveOptions{})
	if damaged, is := errors.AsType[*fault.Error](err); is && damaged.Kind == fault.Damaged {
		path, ok = damaged.Data["path"].(string)
		return path, ok, nil
	}
	if err != nil || len(resolution.Matches) == 0 {
		return "", false, err
	}
	info, err := resolution.One()
	return info.Path, err == nil, err
}

// isBareName reports whether target is the name of a file without a directory, which is
// searched among the sessions.
func isBareName(target string) bool {
	return target != ".." && !strings.ContainsAny(target, `/\`) && !strings.HasPrefix(strings.ToLower(target), "file:")
}

// isSessionAt is Exists for a path.
func (f Finder) isSessionAt(path string) (string, bool, error) {
	root := f.rootOf(path)
	if root.Sessions == "" {
		return "", false, outsideRoots(path)
	}
	parent := realOr(f.RealPath, filepath.Dir(path))
	if _, inside := within(cleanPath(realOr(f.RealPath, root.Sessions)), cleanPath(filepath.Join(parent, filepath.Base(path)))); !inside {
		return "", false, outsideRoots(path)
	}
	info, err := disk.Lstat(f.Fs, path)
	if err != nil || !info.Mode().IsRegular() || !IsSessionName(filepath.Base(path)) {
		return "", false, nil
	}
	return path, true, nil
}

func outsideRoots(path string) error {
	return fault.New(fault.OutsideRoot, "%s is not where sessions are kept; it was not looked at.", path).With("path", path)
}
