package enginetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
)

// begin makes a new session the current one, with its first entries.
func (d *double) begin(s *session) {
	d.session = s
	if len(d.models) > 0 {
		_, _ = s.append("model_change", "provider", provider, "modelId", d.models[d.model].id) // in memory
	}
	_, _ = s.append("thinking_level_change", "thinkingLevel", d.thinking) // in memory
}

// adopt takes model and level from the session that was opened.
func (d *double) adopt() {
	for i, m := range d.models {
		if m.id == d.session.setting("model_change", "modelId") {
			d.model = i
		}
	}
	if level := d.session.setting("thinking_level_change", "thinkingLevel"); level != "" {
		d.thinking = d.level(level)
	}
}

// replace goes to another session, as all commands do that leave one.
func (d *double) replace(reason string, next func() error) error {
	d.stopRun()
	d.mu.Lock()
	err := next()
	d.mu.Unlock()
	if err == nil {
		d.hello(reason)
		d.hello(reason) // pi starts a session twice
	}
	return err
}

func (d *double) newSession(c command) (json.RawMessage, error) {
	return object("cancelled", false), d.replace("new", func() error {
		d.begin(newSession("", d.dir, "", d.session.cwd, c.ParentSession))
		return nil
	})
}

func (d *double) switchSession(c command) (json.RawMessage, error) {
	return object("cancelled", false), d.replace("resume", func() error {
		if _, err := os.Stat(c.SessionPath); err != nil {
			d.begin(newSession(c.SessionPath, "", "", d.session.cwd, ""))
			return nil
		}
		s, err := openSession(c.SessionPath)
		if err == nil {
			d.session = s
			d.adopt()
		}
		return err
	})
}

// fork goes to a copy of the path before a prompt.
func (d *double) fork(c command) (json.RawMessage, error) {
	var text string
	err := d.replace("fork", func() error {
		e, ok := d.session.find(c.EntryID)
		if !ok || e.role != "user" {
			return errors.New("Invalid entry ID for forking") //nolint:staticcheck // pi's words
		}
		text = textOf(e.message)
		return d.copyLocked(e.parent)
	})
	return object("text", text, "cancelled", false), err
}

func (d *double) clone(command) (json.RawMessage, error) {
	return object("cancelled", false), d.replace("fork", func() error {
		if !d.session.written {
			return errors.New("This session has not been saved yet. Send a message before cloning or forking it.") //nolint:staticcheck // pi's words
		}
		return d.copyLocked(d.session.leaf)
	})
}

func (d *double) copyLocked(leaf string) error {
	s, err := d.session.copyTo(leaf, d.dir)
	if err == nil {
		d.session = s
	}
	return err
}

// wander is a command of an extension that goes to another session.
func (d *double) wander(path string) {
	_, _ = d.switchSession(command{SessionPath: path}) // as an extension that looks at no error
}

// compact replaces the beginning of the session by a summary.
func (d *double) compact(c command) (json.RawMessage, error) {
	d.stopRun()
	d.event("compaction_start", "reason", "manual")
	d.mu.Lock()
	defer d.mu.Unlock()
	kept := d.keptLocked()
	if kept == "" {
		const words = "Nothing to compact (session too small)"
		d.event("compaction_end", "reason", "manual", "aborted", false, "willRetry", false, "errorMessage", "Compaction failed: "+words)
		return nil, errors.New(words) //nolint:staticcheck // pi's words
	}
	summary := "Mock summary."
	if c.Instructions != "" {
		summary += " " + c.Instructions
	}
	details := object("readFiles", []string{}, "modifiedFiles", []string{})
	if _, err := d.session.append("compaction", "summary", summary, "firstKeptEntryId", kept, "tokensBefore", 2000, "details", details, "fromHook", false); err != nil {
		return nil, err
	}
	data := object("summary", summary, "firstKeptEntryId", kept, "tokensBefore", 2000, "estimatedTokensAfter", 1000, "usage", usage(10), "details", details)
	d.event("compaction_end", "reason", "manual", "result", data, "aborted", false, "willRetry", false)
	return data, nil
}

// keptLocked returns the last prompt, which a compaction keeps, if there are two since the last compaction.
func (d *double) keptLocked() (id string) {
	prompts := 0
	for _, e := range d.session.branch(d.session.leaf) {
		switch {
		case e.kind == "compaction":
			prompts = 0
		case e.role == "user":
			prompts++
			id = e.id
		}
	}
	if prompts < 2 {
		return ""
	}
	return id
}

// bridgeArgs are the arguments of the bridge's commands.
type bridgeArgs struct {
	N       json.RawMessage
	To      string
	Entry   string
	Text    string
	Options struct {
		Summarize          bool
		CustomInstructions string
	}
}

// navigate makes an entry the leaf, or the parent of a prompt.
func (d *double) navigate(text string) {
	var a bridgeArgs
	_ = json.Unmarshal([]byte(text), &a) // without arguments the entry is not found
	d.mu.Lock()
	e, ok := d.session.find(a.To)
	if !ok {
		d.note("op", "answer", "n", a.N, "error", fmt.Sprintf("Entry %s not found", a.To))
		d.mu.Unlock()
		return
	}
	was := d.session.leaf
	prefill := ""
	d.session.leaf = e.id
	if e.role == "user" {
		d.session.leaf, prefill = e.parent, textOf(e.message)
	}
	if a.Options.Summarize && was != d.session.leaf {
		_, _ = d.session.append("branch_summary", "fromId", orNull(d.session.leaf), "summary", "Mock summary. "+a.Options.CustomInstructions) // a full disk shows in the file
	}
	leaf := orNull(d.session.leaf)
	d.mu.Unlock()
	d.leafChanged()
	d.note("op", "answer", "n", a.N, "value", object("cancelled", false, "leafId", leaf, "text", prefill))
}

// label labels an entry.
func (d *double) label(text string) {
	var a bridgeArgs
	_ = json.Unmarshal([]byte(text), &a) // without arguments the entry is not found
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, ok := d.session.find(a.Entry); !ok {
		d.note("op", "answer", "n", a.N, "error", fmt.Sprintf("Entry %s not found", a.Entry))
		return
	}
	_, _ = d.session.append("label", "targetId", a.Entry, "label", orAbsent(a.Text)) // a full disk shows in the file
	d.note("op", "answer", "n", a.N, "value", object("leafId", d.session.leaf))
}
