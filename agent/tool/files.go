package tool

import (
	"context"
	"slices"

	"github.com/xcsh-ls/xcsh-ls/agent/sensitive"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// Files gives tools of other packages the access to files that read and edit have: files with credentials are neither
// read nor changed, and unsaved text counts.
type Files struct{ o Options }

// NewFiles returns the access with these options.
func NewFiles(o Options) Files { return Files{o.withDefaults()} }

// Path returns the absolute path that a model means, and reports it as touched.
func (f Files) Path(env Env, path string) string { return f.o.path(env, path) }

// Private reports whether the file at an absolute path may contain credentials.
func (f Files) Private(path string) bool { return f.o.mayShow(path) != nil }

// Size returns the size of the file on disk in bytes, 0 if there is none.
func (f Files) Size(path string) int64 {
	info, err := f.o.Fs.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}

// Read returns the text of a file. Its errors are sentences for the model.
func (f Files) Read(ctx context.Context, env Env, path string) (File, error) {
	return readFile(ctx, f.o, env, path)
}

// Rewrite is a new content of an existing file, which Was describes. Target is its path with links resolved.
type Rewrite struct {
	Path, Target string
	Was          File
	Content      []byte
}

// Rewrite reads a file in order to change it. The result has the content that the file has now.
func (f Files) Rewrite(ctx context.Context, env Env, path string) (Rewrite, error) {
	was, err := f.Read(ctx, env, path)
	if err != nil {
		return Rewrite{}, err
	}
	target, err := sensitive.Target(f.o.Fs, path)
	return Rewrite{Path: path, Target: target, Was: was, Content: slices.Clone(was.Content)}, err
}

// Write writes a new content, which the user has approved. It returns a note for the model. If the file has changed
// since it was read, nothing is written and the error is a Stale error.
func (f Files) Write(ctx context.Context, env Env, label string, r Rewrite) (note string, err error) {
	unlock, err := lockFile(ctx, r.Path)
	if err != nil {
		return "", err
	}
	defer unlock()
	if target, err := sensitive.Target(f.o.Fs, r.Path); err != nil || target != r.Target {
		return "", fault.New(fault.Stale, "%s leads to another file now, so it was not changed.", r.Path).With("path", r.Path)
	}
	if now, err := f.Read(ctx, env, r.Path); err != nil || string(now.Content) != string(r.Was.Content) {
		return "", fault.New(fault.Stale, "%s was changed since it was read, so it was not changed.", r.Path).With("path", r.Path)
	}
	defer env.Background.approved(ctx, r.Path)()
	saved, err := env.Files.WriteFile(ctx, label, r.Path, r.Was, r.Content)
	return savedNote(saved), err
}
