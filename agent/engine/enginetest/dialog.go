package enginetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"
)

// host is what the bridge knows of the program that runs it.
type host struct {
	Mark    string   `json:"mark"`
	Files   bool     `json:"files"`
	Permit  bool     `json:"permit"`
	Builtin []string `json:"builtin"`
}

// ask asks a dialog and waits for its answer, its timeout or the end of ctx; none of these is announced.
func (d *double) ask(ctx context.Context, method string, fields map[string]json.RawMessage) answer {
	id := newUUID()
	got := make(chan answer, 1)
	d.mu.Lock()
	d.dialogs[id] = got
	d.mu.Unlock()
	defer func() {
		d.mu.Lock()
		delete(d.dialogs, id)
		d.mu.Unlock()
	}()
	members := []any{"type", "extension_ui_request", "id", id, "method", method}
	for _, name := range []string{"title", "message", "options", "placeholder", "prefill", "timeout"} {
		if value, ok := fields[name]; ok {
			members = append(members, name, value)
		}
	}
	d.out.send(object(members...))
	var late <-chan time.Time
	var ms int
	if json.Unmarshal(fields["timeout"], &ms) == nil && ms > 0 {
		t := time.NewTimer(time.Duration(ms) * time.Millisecond)
		defer t.Stop()
		late = t.C
	}
	select {
	case a := <-got:
		return a
	case <-late:
	case <-ctx.Done():
	}
	return answer{Cancelled: true}
}

// answered is the answer to a dialog. That to an unknown one is ignored.
func (d *double) answered(c command) {
	var id string
	_ = json.Unmarshal(c.ID, &id) // another id is unknown
	d.mu.Lock()
	got := d.dialogs[id]
	d.mu.Unlock()
	if got != nil {
		select {
		case got <- c.answer:
		default: // the second one
		}
	}
}

// shown returns an answer as an extension of the user shows it.
func shown(a answer) string {
	switch {
	case a.Cancelled:
		return `"undefined"`
	case a.Confirmed != nil:
		return fmt.Sprint(*a.Confirmed)
	case a.Value != nil:
		return string(encode(*a.Value))
	}
	return `"undefined"`
}

// reply is the host's answer to the bridge.
type reply struct {
	Allow  bool
	Reason string
	Here   bool
	Text   string
	Error  string
}

// request asks the host.
func (d *double) request(ctx context.Context, members ...any) (reply, error) {
	fields := map[string]json.RawMessage{"title": encode(d.host.Mark), "placeholder": encode(string(object(members...)))}
	a := d.ask(ctx, "input", fields)
	var r reply
	switch {
	case ctx.Err() != nil:
		return r, errAborted
	case a.Value == nil:
		return r, errors.New("The editor did not answer.") //nolint:staticcheck // the bridge's words
	}
	if err := json.Unmarshal([]byte(*a.Value), &r); err != nil {
		return r, err
	}
	if r.Error != "" {
		return r, errors.New(r.Error)
	}
	return r, nil
}

// permit asks the host whether a tool may run.
func (d *double) permit(ctx context.Context, call toolCall) error {
	if ctx.Err() != nil {
		return errAborted
	}
	if d.kin != nil && d.kin.serial {
		ctx = context.WithoutCancel(ctx) // xcsh does not take back the question of an aborted run
	}
	if !d.host.Permit || d.faults.is("unpermitted") {
		return nil
	}
	r, err := d.request(ctx, "op", "permit", "toolCallId", call.id, "tool", call.name, "own", true, "args", call.args)
	if err != nil || r.Allow {
		return err
	}
	if r.Reason == "" {
		r.Reason = "The user denied this call."
	}
	return errors.New(r.Reason)
}

// note sends the host something that needs no answer.
func (d *double) note(members ...any) {
	if d.host.Mark != "" {
		d.out.send(object("type", "extension_ui_request", "id", newUUID(), "method", "setStatus", "statusKey", d.host.Mark, "statusText", string(object(members...))))
	}
}

// hello is sent at each start of a session.
func (d *double) hello(reason string) {
	if reason == "reload" && d.faults.is("silent-reload") {
		return
	}
	files := object()
	if d.host.Files {
		files = object("read", true, "edit", true, "write", true)
	}
	var tools []json.RawMessage
	for _, name := range []string{"read", "bash", "powershell", "edit", "write", "grep", "find", "ls"} {
		tools = append(tools, object("name", name, "own", true))
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.note("op", "hello", "version", 1, "pi", versionOf(d.faults), "reason", reason, "permit", d.host.Permit, "cwd", d.session.cwd, "file", orNull(d.session.path),
		"leafId", orNull(d.session.leaf), "files", files, "tools", array(tools))
}

// leafChanged sends the leaf.
func (d *double) leafChanged() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.note("op", "leaf", "leafId", orNull(d.session.leaf))
}

// listed are the commands of get_commands, without those of the bridge.
var listed = []struct{ name, description, source string }{
	{"llama", "Manage llama.cpp router models", "extension"},
	{"mcp", "Manage MCP servers: sign in, reconnect, enable or disable, and change exposure", "extension"},
	{"sel", "Asks a select", "extension"},
	{"con", "Asks a confirm", "extension"},
	{"inp", "Asks an input", "extension"},
	{"edi", "Asks an editor", "extension"},
	{"selt", "Asks a select with a timeout", "extension"},
	{"misc", "Uses everything without an answer", "extension"},
	{"boom", "Fails", "extension"},
	{"switch", "Goes to another session", "extension"},
	{"fix", "Fix it", "prompt"},
}

func (d *double) listCommands(command) (json.RawMessage, error) {
	all := slices.Clone(listed)
	if d.host.Mark != "" {
		for _, name := range []string{"navigate", "label", "reload"} {
			all = append(all, struct{ name, description, source string }{"xcsh-ls-" + name, "Used by xcsh-ls", "extension"})
		}
	}
	var list []json.RawMessage
	for _, c := range all {
		list = append(list, object("name", c.name, "description", c.description, "source", c.source,
			"sourceInfo", object("path", "double:"+c.name, "source", "auto", "scope", "user", "origin", "top-level")))
	}
	return object("commands", array(list)), nil
}

// commands returns the commands of extensions.
func (d *double) commands() map[string]func(args string) {
	dialog := func(method, fields string) func(string) {
		return func(string) {
			var f map[string]json.RawMessage
			_ = json.Unmarshal([]byte(fields), &f) // it is JSON
			d.ui("notify", "message", shown(d.ask(context.Background(), method, f)), "notifyType", "warning")
		}
	}
	all := map[string]func(string){
		"sel": dialog("select", `{"title":"Pick","options":["a","b"]}`), "selt": dialog("select", `{"title":"Pick","options":["a"],"timeout":300}`),
		"con": dialog("confirm", `{"title":"Sure?","message":"really"}`), "inp": dialog("input", `{"title":"Name","placeholder":"ph"}`),
		"edi": dialog("editor", `{"title":"Text","prefill":"pre"}`), "misc": d.misc, "switch": d.wander,
		"boom": func(string) {
			d.event("extension_error", "extensionPath", "command:boom", "event", "command", "error", "boom")
		},
	}
	if d.host.Mark != "" {
		all["xcsh-ls-navigate"], all["xcsh-ls-label"], all["xcsh-ls-reload"] = d.navigate, d.label, func(string) { d.hello("reload") }
	}
	return all
}

// ui sends a request that has no answer.
func (d *double) ui(method string, members ...any) {
	d.out.send(object(append([]any{"type", "extension_ui_request", "id", newUUID(), "method", method}, members...)...))
}

func (d *double) misc(string) {
	d.ui("setTitle", "title", "T")
	d.ui("setWidget", "widgetKey", "w", "widgetLines", []string{"l1"})
	d.ui("setStatus", "statusKey", "s", "statusText", "st")
	d.ui("set_editor_text", "text", "et")
	d.ui("setStatus", "statusKey", "s")
	message := object("role", "custom", "customType", "mine", "content", "note", "display", true, "timestamp", time.Now().UnixMilli())
	d.event("message_start", "message", message)
	d.event("message_end", "message", message)
	d.mu.Lock()
	defer d.mu.Unlock()
	_, _ = d.session.append("custom_message", "customType", "mine", "content", "note", "display", true) // a full disk shows in the file
	e, _ := d.session.append("custom", "customType", "mine", "data", object("a", 1))                    // as above
	d.event("entry_appended", "entry", e.raw)
}
