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
	Text  string `json:"text"`
	Empty bool   `json:"empty" jsonschema:"True if the session has no messages; text then contains a notice."`
}

// DumpArgs are the arguments of xcsh.dump.
type DumpArgs struct {
	Subject
	Raw bool `json:"raw,omitempty" jsonschema:"Keep control, bidirectional and invisible characters instead of escaping them as \\u001b."`
}

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
