package review

import (
	"fmt"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/agent/change"
	"github.com/xcsh-ls/xcsh-ls/agent/change/patch"
	"github.com/xcsh-ls/xcsh-ls/agent/change/wire"
	"github.com/xcsh-ls/xcsh-ls/session/markup"
	"github.com/xcsh-ls/xcsh-ls/session/visible"
)

// Document returns changes as Markdown with links, for editors without a view for changes. Paths are relative to the folder. Content of
// files is quoted, so that it can't imitate other text.
func Document(c wire.Changes, folder string) string {
	var b strings.Builder
	b.WriteString("# Changes\n\n")
	fmt.Fprintf(&b, "%s, +%d −%d, %d to review\n", count1(c.Totals.Files, "file"), c.Totals.Added, c.Totals.Removed, c.Totals.Pending)
	if c.Interrupted {
		b.WriteString("\nA rewind was interrupted. It is completed or undone with the next change of the session.\n")
	}
	for _, l := range c.Limits {
		fmt.Fprintf(&b, "\n> %s\n", l.Text)
	}
	for _, f := range c.Files {
		file(&b, f, folder)
	}
	if len(c.Files) == 0 {
		b.WriteString("\nNo changes.\n")
	}
	return b.String()
}

func count1(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func file(b *strings.Builder, f wire.File, folder string) {
	line := 1
	if len(f.Hunks) > 0 {
		line = max(1, f.Hunks[0].NewStart)
	}
	fmt.Fprintf(b, "\n## [%s](%s)\n\n%s", label(folder, f.Path), link(f.Path, line), f.Status)
	if f.From != "" {
		fmt.Fprintf(b, " from %s", label(folder, f.From))
	}
	fmt.Fprintf(b, ", +%d −%d", f.Added, f.Removed)
	if f.Pending > 0 {
		fmt.Fprintf(b, ", %d to review", f.Pending)
	}
	if !f.Rewindable {
		fmt.Fprintf(b, "\n\nThis change can't be undone: %s", markup.Plain(f.Text))
	}
	b.WriteString("\n")
	for _, h := range f.Hunks {
		note := ""
		if h.State != "pending" {
			note = " (kept)"
		} else if h.Mixed {
			note = " (you also changed these lines)"
		}
		fmt.Fprintf(b, "\n[Line %d](%s)%s\n\n", max(1, h.NewStart), link(f.Path, max(1, h.NewStart)), note)
		b.WriteString(strings.TrimRight(markup.Block("diff", h.Text), "\n") + "\n")
	}
}

func label(folder, path string) string {
	return markup.Plain(visible.Line(change.RelativePath(folder, path)))
}

func link(path string, line int) string {
	slash := filepath.ToSlash(path)
	if !strings.HasPrefix(slash, "/") {
		slash = "/" + slash
	}
	u := url.URL{Scheme: "file", Path: slash, Fragment: fmt.Sprintf("L%d", line)}
	return strings.NewReplacer("(", "%28", ")", "%29").Replace(u.String())
}

// Patch returns the changes of a scope as one unified patch, from the files without these changes to the present files.
func Patch(in *Input, q Scope, folder string) (string, error) {
	files, _, err := Files(in, q)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, f := range files {
		v, err := in.scopeView(q, f)
		if err != nil {
			return "", err
		}
		old, now := v.target, v.now
		if q.Pending && old.Reason == "" {
			old.State, old.Content = v.base()
		}
		p := patch.File{
			From: change.RelativePath(folder, f.Path), To: change.RelativePath(folder, f.Path), Old: old.Content, New: now.Content,
			OldMode: old.State.Mode, NewMode: now.State.Mode, Binary: v.binary || v.target.Reason != "" || v.whole && f.Status == wire.Link,
		}
		if f.From != "" {
			p.From = change.RelativePath(folder, f.From)
		}
		if old.State.Kind != change.Absent && p.Old == nil {
			p.Old = []byte{}
		}
		if now.State.Kind != change.Absent && p.New == nil {
			p.New = []byte{}
		}
		patch.Append(&b, p)
	}
	return b.String(), nil
}

// scopeView returns the view of a file that [Files] returned.
func (in *Input) scopeView(q Scope, f wire.File) (*view, error) {
	if q.Pending {
		return in.pendingView(f.Path)
	}
	var from *view
	if f.From != "" {
		var err error
		if from, err = in.viewOf(f.From, in.Book.Chain(f.From, q.Keep), nil); err != nil {
			return nil, err
		}
	}
	return in.viewOf(f.Path, in.Book.Chain(f.Path, q.Keep), from)
}
