package hosting

import (
	"context"
	"encoding/json"

	"github.com/xcsh-ls/xcsh-ls/agent/engine"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
)

// file is the session file as one process has it. Which of two kinds it is depends on who writes it.
type file interface {
	// exists reports whether the engine opens a file, rather than making one.
	exists() bool

	// opened takes over the report of the engine at its start.
	opened(o engine.Opened) error

	// leaf moves the session to the leaf of the engine.
	leaf(entryID string) error

	// title takes over a title that the engine gave the session.
	title(text string) error

	// message returns the id of the entry that records a message: it writes the entry, or waits until the engine has.
	message(ctx context.Context, m json.RawMessage) (entryID string, err error)

	// catch reads the new lines of the engine.
	catch() error

	// strangers reports, once, that entries appeared in the file that the engine did not report.
	strangers() bool

	// back makes the file ours, after the process has ended. If it ended in a run, the leaf follows what it wrote and could
	// not report any more.
	back(inRun bool) error
}

// promptText returns the text of a message of the user.
func promptText(message json.RawMessage) (text string, ok bool) {
	role, _ := rawjson.GetString(message, "role")
	if role != "user" {
		return "", false
	}
	content := rawjson.Get(message, "content")
	if text, ok := rawjson.String(content); ok {
		return text, true
	}
	rawjson.Elements(content, func(block []byte) bool {
		if kind, _ := rawjson.GetString(block, "type"); kind == "text" {
			part, _ := rawjson.GetString(block, "text")
			text += part
		}
		return true
	})
	return text, true
}
