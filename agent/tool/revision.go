package tool

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/sensitive"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// Revision is the text of a file that the user approved in place of the proposed one.
type Revision struct {
	Target  string // absolute, without links; the only file that may be changed
	Base    string // the [Sum] of the content that is replaced
	Content string
}

// Sum returns the checksum of a file's content, by which a [Revision] names what it replaces.
func Sum(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// preview describes the change of one file.
func (o Options) preview(title, diff, path string, was File) (Preview, error) {
	target, err := sensitive.Target(o.Fs, path)
	return Preview{Title: title, Diff: diff, Paths: []string{path}, Target: target, Base: Sum(was.Content)}, err
}

// errRevised is the error for a file that changed since the user revised its text.
func errRevised(path string) error {
	return fault.New(fault.Stale, "%s changed while the user was reviewing this call, so nothing was written. Read the file again and repeat the call.", path).With("path", path)
}

// revises reports whether the user approved another text than the one that the call proposes. proposed is nil if
// the call cannot be made any more.
func (p Permission) revises(proposed []byte) bool {
	return p.Revision != nil && (proposed == nil || string(proposed) != p.Revision.Content)
}

// write writes the user's text. The caller holds the lock of the file. The result says that the user changed the
// proposal, and how the file changed.
func (r *Revision) write(ctx context.Context, o Options, env Env, label, name, path string) (Result, error) {
	if target, err := sensitive.Target(o.Fs, path); err != nil || target != r.Target {
		return Result{}, errRevised(name)
	}
	was, err := readOrNew(ctx, o, env, path)
	if err != nil {
		return Result{}, err
	}
	content := []byte(r.Content)
	switch {
	case Sum(was.Content) != r.Base:
		return Result{}, errRevised(name)
	case bytes.Equal(was.Content, content):
		return Result{}, fault.New(fault.Denied, "The user accepted none of the changes to %s, so it is unchanged. Ask what to do instead, or continue without them.", name)
	}
	defer env.Background.approved(ctx, path)()
	saved, err := env.Files.WriteFile(ctx, label, path, was, content)
	if err != nil {
		return Result{}, err
	}
	change := newEditDetails(name, string(was.Content), r.Content)
	shown := cmp.Or(fitting(change.Patch), "The change is too long to be shown here. Read the file.")
	result := Result{Content: []provider.Block{provider.Text("The user changed your proposal for " + name +
		" before accepting it. This change was made instead; keep it, and do not repeat the rejected parts." + savedNote(saved) + "\n\n" + shown)}}
	result.Details = details(change)
	return result, nil
}

// fitting returns a text that is within the limits of a result, and "" for a longer one.
func fitting(text string) string {
	if len(text) > MaxBytes || countLines(text) > MaxLines {
		return ""
	}
	return text
}
