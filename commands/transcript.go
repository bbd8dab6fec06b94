package commands

import (
	"context"
	"io"
	"path/filepath"
	"strings"

	exporter "github.com/xcsh-ls/xcsh-ls/session/export"
	"github.com/xcsh-ls/xcsh-ls/session/fault"
)

var transcript = New(Spec{
	Name: "xcsh.transcript", Title: "Show Transcript", Flags: Palette | NeedPersistent, Arg: "source",
	Doc: "Show a conversation as Markdown in the editor: as a document of its own where the client has such, else as a read-only file.",
}, runTranscript)

// TranscriptUI is what a [UI] can also do when its client shows documents that are no files.
type TranscriptUI interface {
	// ShowTranscript shows what [Transcript] returns for the session at path. It reports
	// whether the client did so.
	ShowTranscript(ctx context.Context, path string) bool
}

// TranscriptResult says what is shown.
type TranscriptResult struct {
	Path string `json:"path,omitempty" jsonschema:"The file that was written; absent when the client shows the conversation without one."`
}

func runTranscript(ctx context.Context, env *Env, a Subject) (r TranscriptResult, err error) {
	session, text, err := Transcript(ctx, env, a)
	if err != nil {
		return r, err
	}
	if ui, ok := env.UI.(TranscriptUI); ok && ui.ShowTranscript(ctx, session) {
		return r, nil
	}
	if r.Path, err = env.writeTranscript(session, text); err != nil {
		return r, err
	}
	env.UI.Open(ctx, r.Path, false)
	return r, nil
}

// Transcript returns the conversation of a session as Markdown, and the session's file. A
// session in memory is kind notPersistent: a transcript is shown under the name of the file.
func Transcript(ctx context.Context, env *Env, s Subject) (path, text string, err error) {
	err = env.withSource(ctx, s, func(_ string, sub subject) error {
		if path = sub.path; path == "" {
			return fault.New(fault.NotPersistent, "The session is in memory only; xcsh.dump gives its text.")
		}
		doc, err := env.fileDoc(ctx, sub, "markdown")
		if err != nil {
			return err
		}
		doc.SystemPrompt, doc.Tools = "", nil // it is for reading what was said
		var b strings.Builder
		err = exporter.Markdown(&b, doc)
		text = b.String()
		return err
	})
	return path, text, err
}

// writeTranscript puts a text among our own files, under the name of the session. It is
// read-only, so that nobody takes it for the session and edits it.
func (env *Env) writeTranscript(session, text string) (path string, err error) {
	dir := ""
	for _, r := range env.Finder.Roots {
		if r.Own {
			dir = filepath.Join(r.AgentDir, "xcsh-ls", "transcripts")
		}
	}
	if dir == "" {
		return "", fault.New(fault.Internal, "There is no place for transcripts.")
	}
	path = filepath.Join(dir, strings.TrimSuffix(filepath.Base(session), ".jsonl")+".md")
	if err := env.Fs.MkdirAll(dir, 0o700); err != nil {
		return "", fault.New(fault.IO, "%s cannot be made: %w.", dir, err).With("path", dir)
	}
	// Windows replaces no file that is read-only.
	if info, err := env.Fs.Stat(path); err == nil && info.Mode().Perm()&0o200 == 0 {
		if err := env.Fs.Chmod(path, 0o600); err != nil {
			return "", fault.New(fault.IO, "%s cannot be replaced: %w.", path, err).With("path", path)
		}
	}
	err = env.Store.WriteFile(path, true, func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	})
	if err != nil {
		return "", err
	}
	if err := env.Fs.Chmod(path, 0o400); err != nil {
		return "", fault.New(fault.IO, "%s cannot be made read-only: %w.", path, err).With("path", path)
	}
	return path, nil
}
