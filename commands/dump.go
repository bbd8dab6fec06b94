package commands

import (
	"context"
	"strings"

	exporter "github.com/xcsh-ls/xcsh-ls/session/export"
)

var dump = New(Spec{
	Name: "xcsh.dump", Title: "Dump Session as Text", Flags: Palette | ReadOnly, Arg: "source",
	Doc: "The current conversation as plain text, for the clipboard or a buffer.",
}, runDump)

// nothingToDump is what a dump says of a session without messages.
const nothingToDump = "No messages to dump yet."

// DumpResult is a conversation as text.
type DumpResult struct {
	Text  string `json:"text"`
	Empty bool   `json:"empty" jsonschema:"The session has no messages; text says so."`
}

func runDump(ctx context.Context, env *Env, a Subject) (r DumpResult, err error) {
	err = env.withSource(ctx, a, func(_ string, sub subject) error {
		doc, err := env.exportDoc(ctx, sub)
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
		r.Text = text.String()
		return nil
	})
	return r, err
}
