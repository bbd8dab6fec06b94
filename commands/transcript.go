package commands

import (
	"context"
	"io"
	"path/filepath"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	exporter "github.com/xcsh-ls/xcsh-ls/session/export"
)

var transcript = New(Spec{
	Name: "xcsh.transcript", Title: "Show Transcript", Flags: Palette | WritesFile | NeedsPersistent, Arg: "source",
	Doc:     "Show a conversation as Markdown in the editor: as a virtual document if the client supports them, or else as a read-only file.",
	refusal: refusal{inMemory: transcriptInMemory},
}, runTranscript)

const transcriptInMemory = "The session is in memory only; xcsh.dump returns its text."

// TranscriptUI is a [UI] whose client supports virtual documents.
type TranscriptUI interface {
	// ShowTranscript shows the result of [Transcript] for the session at path. It reports
	// whether the client did so.
	ShowTranscript(ctx context.Context, path string) bool
}

// TranscriptResult is the file that is shown, if any.
type TranscriptResult struct {
	Path string `json:"path,omitempty" jsonschema:"The file that was written; absent if the client shows a virtual document."`
}

func runTranscript(ctx context.Context, env *Env, a Subject) (r TranscriptResult, err error) {
	if ui, ok := env.UI.(TranscriptUI); ok {
		session, err := checkTranscript(ctx, env, a)
		switch {
		case fault.Is(err, fault.TooLarge): // a file may be of any size
		case err != nil:
			return r, err
		case ui.ShowTranscript(ctx, session):
			return r, nil
		}
	}
	err = env.withTranscript(ctx, a, func(session string, write func(io.Writer) error) error {
		r.Path, err = writeTranscript(env, session, write)
		return err
	})
	if err != nil {
		return r, err
	}
	env.UI.Open(ctx, r.Path, false)
	return r, nil
}

// checkTranscript returns the error that [Transcript] would return, and the session's file.
func checkTranscript(ctx context.Context, env *Env, s Subject) (path string, err error) {
	err = env.withTranscript(ctx, s, func(session string, write func(io.Writer) error) error {
		path = session
		return write(transcriptLimit(io.Discard))
	})
	return path, err
}

// Transcript returns the conversation of a session as Markdown, and the session's file. It
// returns a NotPersistent error for an in-memory session, because the document is named after
// the file, and a TooLarge error for a text that is too large for an answer.
func Transcript(ctx context.Context, env *Env, s Subject) (path, text string, err error) {
	err = env.withTranscript(ctx, s, func(session string, write func(io.Writer) error) error {
		var b strings.Builder
		err := write(transcriptLimit(&b))
		path, text = session, b.String()
		return err
	})
	return path, text, err
}

func transcriptLimit(w io.Writer) io.Writer {
	return answerLimit(w, "transcript", "format: \"markdown\"")
}

// withTranscript calls f with a session's file and a function that writes its transcript, while it reads the session.
func (env *Env) withTranscript(ctx context.Context, s Subject, f func(session string, write func(io.Writer) error) error) error {
	return env.withSource(ctx, s, func(sub subject) error {
		if sub.path == "" {
			return fault.New(fault.NotPersistent, transcriptInMemory)
		}
		doc, err := sub.fileDoc(ctx, "markdown")
		if err != nil {
			return err
		}
		doc.SystemPrompt, doc.Tools = "", nil // not part of the conversation
		return f(sub.path, func(w io.Writer) error { return exporter.Markdown(untilDone(ctx, w), doc) })
	})
}

// writeTranscript writes a transcript to the agent directory, named after the session. The
// file is read-only, because edits would not change the session.
func writeTranscript(env *Env, session string, write func(io.Writer) error) (path string, err error) {
	dir := ""
	for _, r := range env.Finder.Roots {
		if r.Own {
			dir = filepath.Join(r.AgentDir, "xcsh-ls", "transcripts")
		}
	}
	if dir == "" {
		return "", fault.New(fault.Internal, "There is no agent directory for transcripts.")
	}
	path = filepath.Join(dir, strings.TrimSuffix(filepath.Base(session), ".jsonl")+".md")
	if err := env.Fs.MkdirAll(dir, 0o700); err != nil {
		return "", fault.New(fault.IO, "Cannot create %s: %w.", dir, err).With("path", dir)
	}
	// Windows does not replace read-only files.
	if info, err := env.Fs.Stat(path); err == nil && info.Mode().Perm()&0o200 == 0 {
		if err := env.Fs.Chmod(path, 0o600); err != nil {
			return "", fault.New(fault.IO, "Cannot replace %s: %w.", path, err).With("path", path)
		}
	}
	if err = env.Store.WriteFile(path, true, write); err != nil {
		return "", err
	}
	if err := env.Fs.Chmod(path, 0o400); err != nil {
		return "", fault.New(fault.IO, "Cannot make %s read-only: %w.", path, err).With("path", path)
	}
	return path, nil
}
