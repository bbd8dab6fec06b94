package commands

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	exporter "github.com/xcsh-ls/xcsh-ls/session/export"
	"github.com/xcsh-ls/xcsh-ls/session/visible"
)

var dump = New(Spec{
	Name: "xcsh.dump", Title: "Dump Session as Text", Flags: Palette | ReadOnly, Arg: "source",
	Doc: "Return the current conversation as plain text, for the clipboard or a buffer. A text larger than 64 MiB is refused; xcsh.export writes it to a file.",
}, runDump)

// nothingToDump is the dump of a session without messages.
const nothingToDump = "No messages to dump yet."

// DumpResult is a conversation as text.
type DumpResult struct {
	Text     string              `json:"text"`
	Empty    bool                `json:"empty" jsonschema:"True if the session has no messages; text then contains a notice."`
	Redacted map[string]int      `json:"redacted,omitempty" jsonschema:"The number of replaced secrets by kind. Absent: redact was false, or no secret was found."`
	Replaced []exporter.Replaced `json:"replaced,omitempty" jsonschema:"Where secrets were replaced, by kind."`
	Doubtful []exporter.Doubt    `json:"doubtful,omitempty" jsonschema:"Text that may be a secret and was kept."`
}

// DumpArgs are the arguments of xcsh.dump.
//
// Differs: the originals don't redact dumps. A dump is text to paste elsewhere, so it is treated like
// an export.
type DumpArgs struct {
	Subject
	Redact   *bool  `json:"redact,omitempty" jsonschema:"Replace text that looks like a password, key or token. Default: true."`
	Doubtful string `json:"doubtful,omitempty" jsonschema:"With redact: keep or replace text that may be a secret. Default: keep, and list it in the result."`
	Raw      bool   `json:"raw,omitempty" jsonschema:"Keep control, bidirectional and invisible characters instead of escaping them as \\u001b."`
}

func (a DumpArgs) check() error { return checkDoubtful(a.Doubtful, doubtfulKeep, doubtfulReplace) }

func runDump(ctx context.Context, env *Env, a DumpArgs) (r DumpResult, err error) {
	if w := AnswerOf(ctx); w != nil {
		return DumpResult{}, answerDump(ctx, env, a, w)
	}
	var text strings.Builder
	if r, err = WriteDump(ctx, env, a, answerLimit(&text, "dump", "format: \"text\"")); err != nil {
		return DumpResult{}, err
	}
	r.Text = text.String()
	return r, nil
}

// answerDump writes the result of a dump as JSON. The text is its first member, because the others are known
// at the end of the text.
func answerDump(ctx context.Context, env *Env, a DumpArgs, to io.Writer) error {
	var kept error // of to
	w := writerFunc(func(b []byte) (n int, err error) {
		if n, err = to.Write(b); err != nil {
			kept = err
		}
		return n, err
	})
	err := encodeDump(ctx, env, a, w)
	if kept != nil && !fault.Is(err, fault.Cancelled) {
		return fault.New(fault.IO, "The dump could not be kept until it is sent: %w. Free some disk space, or write it to a file with xcsh.export and the argument path.", kept)
	}
	return err
}

func encodeDump(ctx context.Context, env *Env, a DumpArgs, w io.Writer) error {
	const begin = `{"text":"`
	if _, err := io.WriteString(w, begin); err != nil {
		return err
	}
	text := jsonText{to: w}
	r, err := WriteDump(ctx, env, a, answerLimit(&text, "dump", "format: \"text\""))
	if err != nil {
		return err
	}
	if err := text.finish(); err != nil {
		return err
	}
	var rest bytes.Buffer
	e := json.NewEncoder(&rest)
	e.SetEscapeHTML(false)
	if err := e.Encode(r); err != nil {
		return err
	}
	_, err = w.Write(bytes.TrimSpace(rest.Bytes())[len(begin):])
	return err
}

// WriteDump writes the text of xcsh.dump to w while it reads the session, so that it needs little memory. The result
// has no text. A failure may leave part of the text in w.
func WriteDump(ctx context.Context, env *Env, a DumpArgs, w io.Writer) (r DumpResult, err error) {
	if err := a.check(); err != nil {
		return r, err
	}
	err = env.withSource(ctx, a.Subject, func(sub subject) error {
		doc, err := sub.dump(ctx)
		if err != nil {
			return err
		}
		if r.Empty, err = exporter.Empty(doc); err != nil {
			return err
		}
		if r.Empty {
			_, err := io.WriteString(w, nothingToDump)
			return err
		}
		job := newExportJob(env, exportStyle{redact: unlessFalse(a.Redact), doubtful: a.Doubtful == doubtfulReplace})
		doc.Messages = job.counted(doc.Messages, exportPasses("text", job.style.redact), len(sub.doc.PathTo(sub.leaf)))
		var redactor *exporter.Redactor
		if job.style.redact {
			redactor = job.redactor()
			doc.Messages = linesUntilDone(ctx, doc.Messages)
			doc = redactor.Doc(doc)
		}
		if err := writeText(untilDone(ctx, w), doc, a.Raw); err != nil {
			return err
		}
		if redactor != nil {
			r.Redacted, r.Replaced, r.Doubtful = redactor.Counts(), redactor.Replaced(), redactor.Doubts()
		}
		return nil
	})
	if err != nil && ctx.Err() != nil {
		err = fault.New(fault.Cancelled, "The dump was cancelled.")
	}
	return r, err
}

// writeText writes the dump of doc.
//
// Differs: the original keeps control characters, which then control the terminal in which
// the text is printed or pasted.
func writeText(w io.Writer, doc exporter.Doc, raw bool) error {
	buffered := bufio.NewWriterSize(w, 1<<16)
	if raw {
		if err := exporter.Text(buffered, doc); err != nil {
			return err
		}
		return buffered.Flush()
	}
	safe := visible.NewWriter(buffered)
	if err := exporter.Text(safe, doc); err != nil {
		return err
	}
	if err := safe.Flush(); err != nil {
		return err
	}
	return buffered.Flush()
}

// maxAnswer is the size of the largest text in an answer, in bytes. The client holds it several times: as JSON,
// decoded, and in a buffer.
const maxAnswer = 64 << 20

// answerLimit returns a writer to w that fails with a TooLarge error at a text larger than [maxAnswer]. what is the
// text, and format the argument of xcsh.export that writes it to a file.
func answerLimit(w io.Writer, what, format string) io.Writer {
	left := maxAnswer
	return writerFunc(func(b []byte) (int, error) {
		if left -= len(b); left < 0 {
			return 0, fault.New(fault.TooLarge, "The %s is larger than %d MiB; write it to a file with xcsh.export and the arguments path and %s.", what, maxAnswer>>20, format).
				With("field", "path")
		}
		return w.Write(b)
	})
}
