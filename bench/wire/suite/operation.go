package suite

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/xcsh-ls/xcsh-ls/bench/wire/child"
)

// operation is a measured command, as a user runs it.
type operation struct {
	name    string
	command string
	args    func(v *visit) map[string]any // nil: none
	needs   string                        // an argument without which the server does not offer this
	options map[string]any                // initialization options of the server

	file    bool // without a live session: cold and warm; otherwise live
	cold    bool // only cold
	changes bool // the session, of which it gets a copy
	newest  bool // the session is the folder's newest: the copy
	prompts bool // a model
	again   bool // the same call precedes the measured one
	repeat  int  // how many calls are measured together; 0: one
	lists   bool // all sessions of the store, so that a list is what precedes it

	before func(v *visit) error // what happens directly before the command; nil: nothing

	// answer returns what is compared, and removes what the command wrote. nil: the whole answer.
	answer func(v *visit, a child.Answer) (content, error)
}

func (o operation) arguments(v *visit) map[string]any {
	if o.args == nil {
		return nil
	}
	return o.args(v)
}

func (o operation) temperatures() []Temperature {
	switch {
	case o.cold:
		return []Temperature{Cold}
	case o.file:
		return []Temperature{Cold, Warm}
	default:
		return []Temperature{Live}
	}
}

// with returns fixed arguments.
func with(args map[string]any) func(*visit) map[string]any {
	return func(*visit) map[string]any { return args }
}

// named names the session in an argument.
func named(argument string) func(*visit) map[string]any {
	return func(v *visit) map[string]any { return map[string]any{argument: v.path} }
}

// labels is how many entries an append is measured with.
const labels = 20

// operations are the commands of one session, in the order of the table.
func operations() []operation {
	list := []operation{
		{name: "resume", command: "xcsh.resume", args: named("target"), file: true},
		{
			name: "resume, early answer", command: "xcsh.resume", args: named("target"), cold: true,
			options: map[string]any{"lateValues": true}, answer: early,
		},
		{name: "continue", command: "xcsh.continue", file: true, newest: true},
		{name: "info of a file", command: "xcsh.info", args: named("source"), file: true},
		{name: "stats of a file", command: "xcsh.stats", args: named("source"), file: true},
		{name: "context of a file", command: "xcsh.context", args: named("source"), file: true},
		{name: "fork of a file", command: "xcsh.fork", args: named("source"), file: true, answer: forked},
		{name: "doctor of a file", command: "xcsh.doctor", args: named("source"), file: true},
		{name: "state", command: "xcsh.state"},
		{name: "info", command: "xcsh.info"},
		{name: "stats", command: "xcsh.stats"},
		{name: "stats again", command: "xcsh.stats", again: true},
		{name: "snapshot", command: "xcsh.snapshot"},
		{name: "snapshot, last 100", command: "xcsh.snapshot", needs: "last", args: with(map[string]any{"last": 100})},
		{name: "messages, newest 100", command: "xcsh.messages", needs: "limit", args: with(map[string]any{"limit": 100})},
		{
			name: "search in the conversation", command: "xcsh.messages", needs: "query",
			args: with(map[string]any{"query": "no text of the generator", "limit": 100}),
		},
		{name: "context", command: "xcsh.context"},
		{name: "context, first MB", command: "xcsh.context", needs: "maxBytes", args: with(map[string]any{"maxBytes": 1 << 20})},
		{name: "entries", command: "xcsh.entries"},
		{name: "entries, first 1,000", command: "xcsh.entries", needs: "limit", args: with(map[string]any{"limit": 1000})},
		{name: "tree", command: "xcsh.tree"},
		{name: "tree, first 1,000", command: "xcsh.tree", needs: "limit", args: with(map[string]any{"limit": 1000})},
		{name: "tree, folded, first 1,000", command: "xcsh.tree", needs: "fold", args: with(map[string]any{"limit": 1000, "fold": true})},
		{name: "artifacts", command: "xcsh.artifacts"},
		{name: "dump", command: "xcsh.dump"},
		{name: "dump without redaction", command: "xcsh.dump", args: with(map[string]any{"redact": false})},
	}
	for _, format := range []string{"html", "markdown"} {
		list = append(
			list,
			operation{name: "export " + format, command: "xcsh.export", args: export(format, nil), answer: exported},
			operation{name: "export " + format + " without redaction", command: "xcsh.export", args: export(format, false), answer: exported},
		)
	}
	return append(
		list,
		operation{name: "describe", command: "xcsh.describe", args: with(map[string]any{"text": "for the benchmark"}), changes: true},
		operation{name: "label, each of 20", command: "xcsh.label", args: label, changes: true, repeat: labels, answer: succeeded},
		operation{
			name: "prompt, each of 10", command: "xcsh.prompt", args: with(map[string]any{"text": "What is in this folder?"}),
			changes: true, prompts: true, again: true, repeat: 10, answer: stopped,
		},
	)
}

// Commands returns the commands that are measured, over all tables.
func Commands() (names []string) {
	for _, o := range slices.Concat(operations(), listOperations()) {
		names = append(names, o.command)
	}
	return append(names, changesCommand)
}

func label(v *visit) map[string]any { return map[string]any{"entryId": v.leaf, "label": "checkpoint"} }

func export(format string, redact any) func(v *visit) map[string]any {
	return func(v *visit) map[string]any {
		args := map[string]any{"path": filepath.Join(v.dir, "exported"), "format": format, "overwrite": true, "open": false}
		if redact != nil {
			args["redact"] = redact
		}
		return args
	}
}

// exported returns the digest of the file and removes it.
func exported(v *visit, a child.Answer) (content, error) {
	if a.Kind != "" {
		return "error " + a.Kind, nil
	}
	path := filepath.Join(v.dir, "exported")
	digest, err := fileDigest(path)
	return digest, errors.Join(err, os.Remove(path))
}

// forked checks that the copy has every byte behind the header, and removes it. An entry with the title can follow.
func forked(v *visit, a child.Answer) (content, error) {
	var r struct {
		Forked  bool
		Session struct {
			File         string
			MessageCount int
			LeafID       string
		}
	}
	if err := json.Unmarshal(a.Result, &r); err != nil || !r.Forked {
		return nil, fmt.Errorf("fork: %s %s %w", a.Kind, a.Text, err)
	}
	err := sameEntries(v.path, r.Session.File)
	return fmt.Sprintf("%d messages, leaf %s", r.Session.MessageCount, r.Session.LeafID), errors.Join(err, os.Remove(r.Session.File))
}

// early compares what an early answer has in any case. The rest follows in a notification.
func early(_ *visit, a child.Answer) (content, error) {
	var r struct {
		Session struct{ SessionID, LeafID string }
	}
	err := json.Unmarshal(a.Result, &r)
	return fmt.Sprint(a.Kind, r), err
}

// succeeded compares only the kind of the error, because the answer has new ids.
func succeeded(_ *visit, a child.Answer) (content, error) {
	if a.Kind != "" {
		return nil, errors.New(a.Text)
	}
	return "succeeded", nil
}

// stopped compares how a turn ended.
func stopped(_ *visit, a child.Answer) (content, error) {
	var r struct{ StopReason string }
	if err := json.Unmarshal(a.Result, &r); err != nil || r.StopReason != "stop" {
		return nil, fmt.Errorf("prompt: %q %s %w", r.StopReason, a.Text, err)
	}
	return r.StopReason, nil
}
