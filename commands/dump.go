package commands

import (
	"context"
	"strings"

	exporter "github.com/xcsh-ls/xcsh-ls/session/export"
	"github.com/xcsh-ls/xcsh-ls/session/visible"
)

var dump = New(Spec{
	Name: "xcsh.dump", Title: "Dump Session as Text", Flags: Palette | ReadOnly, Arg: "source",
	Doc: "Return the current conversation as plain text, for the clipboard or a buffer.",
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
	err = env.withSource(ctx, a.Subject, func(sub subject) error {
		doc, err := sub.dump(ctx)
		if err != nil {
			return err
		}
		if exporter.Empty(doc) {
			r = DumpResult{Text: nothingToDump, Empty: true}
			return nil
		}
		if unlessFalse(a.Redact) {
			redactor := newExportJob(env, exportStyle{doubtful: a.Doubtful == doubtfulReplace}).redactor()
			doc = redactor.Doc(doc)
			r.Redacted, r.Replaced, r.Doubtful = redactor.Counts(), redactor.Replaced(), redactor.Doubts()
		}
		var text strings.Builder
		if err := exporter.Text(&text, doc); err != nil {
			return err
		}
		// Differs: the original keeps control characters, which then control the terminal in which
		// the text is printed or pasted.
		if r.Text = text.String(); !a.Raw {
			r.Text = visible.Text(r.Text)
		}
		return nil
	})
	return r, err
}
