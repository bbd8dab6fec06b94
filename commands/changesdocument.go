package commands

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/agent/change/wire"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session/visible"
)

// ChangesDocument returns the changes of a session as Markdown with links to the files, and the session's file, "" for an
// in-memory session.
func ChangesDocument(ctx context.Context, env *Env, a ChangesArgs) (path, text string, err error) {
	of, err := env.resolver().locate(ctx, a.Subject)
	if err != nil {
		return "", "", err
	}
	text, err = env.changesText(ctx, of, a.ChangesQuery)
	return of.file(), text, err
}

// changesText returns the changes of a session with their hunks as Markdown.
func (env *Env) changesText(ctx context.Context, of located, q wire.ChangesQuery) (string, error) {
	q.Hunks = new(true)
	r, err := env.changesOf(ctx, of, q)
	if err != nil {
		return "", err
	}
	return changesMarkdown(of.folder(), r), nil
}

// showChanges shows the changes in the editor: as a virtual document if the client supports them, or else as a read-only
// file, which is written for this client only and never read again.
func (env *Env) showChanges(ctx context.Context, of located, q wire.ChangesQuery) error {
	if ui, ok := env.UI.(ChangesUI); ok && of.file() != "" && ui.ShowChanges(ctx, of.file(), cmp.Or(q.Since, "turn")) {
		return nil
	}
	text, err := env.changesText(ctx, of, q)
	if err != nil {
		return err
	}
	return env.showText(ctx, of, "changes", text)
}

// showText writes a text next to the transcripts, and shows it. A client that can't show documents only gets the result of the command.
func (env *Env) showText(ctx context.Context, of located, kind, text string) error {
	name := cmp.Or(filepath.Base(of.file()), "session.jsonl")
	name = strings.TrimSuffix(name, ".jsonl") + "." + kind + ".jsonl"
	path, err := writeTranscript(env, name, func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	})
	if err == nil {
		env.UI.Open(ctx, path, false)
		return nil
	}
	if f, ok := errors.AsType[*fault.Error](err); ok && (f.Kind == fault.IO || f.Kind == fault.ReadOnly) {
		return fault.New(f.Kind, "The changes can't be shown: %w", err).With("path", f.Data["path"])
	}
	return err
}

// changesMarkdown describes changes. Paths and lines come from files and are escaped.
func changesMarkdown(folder string, r wire.Changes) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Changes\n\n%s\n", ChangesSummary(r))
	for _, l := range r.Limits {
		fmt.Fprintf(&b, "\n> %s\n", visible.Line(l.Text))
	}
	for _, f := range r.Files {
		writeFileChange(&b, folder, f)
	}
	return b.String()
}

func writeFileChange(b *strings.Builder, folder string, f wire.File) {
	name := visible.Line(ShownPath(folder, f.Path))
	address := (&url.URL{Scheme: "file", Path: filepath.ToSlash(f.Path)}).String()
	fmt.Fprintf(b, "\n## [%s](<%s>)\n\n%s", markdownText(name), address, fileSummary(folder, f))
	if f.Text != "" {
		fmt.Fprintf(b, " %s", visible.Line(f.Text))
	}
	b.WriteString("\n")
	if len(f.Hunks) == 0 {
		return
	}
	var patch strings.Builder
	for _, h := range f.Hunks {
		patch.WriteString(strings.TrimSuffix(visible.Text(h.Text), "\n") + "\n")
	}
	fence := fenceFor(patch.String())
	fmt.Fprintf(b, "\n%sdiff\n%s%s\n", fence, patch.String(), fence)
}

// fenceFor returns a fence that does not occur in text.
func fenceFor(text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence
}

// markdownText escapes the Markdown syntax in the text of a link.
func markdownText(s string) string {
	return strings.NewReplacer(`\`, `\\`, `[`, `\[`, `]`, `\]`, "`", "\\`", `*`, `\*`, `_`, `\_`, `<`, `\<`).Replace(s)
}

// ChangesSummary describes all changes in one sentence.
func ChangesSummary(r wire.Changes) string {
	if len(r.Files) == 0 {
		return "No files were changed."
	}
	text := fmt.Sprintf("%s, +%d −%d", counted(r.Totals.Files, "file"), r.Totals.Added, r.Totals.Removed)
	if n := r.Totals.Pending; n > 0 {
		text += fmt.Sprintf(", %s to review", counted(n, "change"))
	}
	return text + "."
}

// fileSummary describes the change of one file.
func fileSummary(folder string, f wire.File) string {
	text := f.Status
	if f.From != "" {
		text += " from " + visible.Line(ShownPath(folder, f.From))
	}
	if f.Binary {
		return text + ", binary."
	}
	text += fmt.Sprintf(", +%d −%d", f.Added, f.Removed)
	if f.Pending > 0 {
		text += fmt.Sprintf(", %s to review", counted(f.Pending, "change"))
	}
	return text + "."
}
