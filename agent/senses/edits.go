package senses

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// The limits of an edit.
const (
	maxFiles = 200
	maxEdits = 5000
	maxWork  = 4 << 30 // bytes that are searched for the positions of the edits
)

// edits answers rename and code_actions without applying anything.
func (q question) edits(ctx context.Context) (string, error) {
	if q.a.Action == "rename" {
		p, err := q.plan(ctx)
		if err != nil {
			return "", err
		}
		text, note := tool.Head(p.diff)
		return p.title + ", not applied:\n" + text + note, nil
	}
	actions, err := q.actions(ctx)
	if err != nil {
		return "", err
	}
	var lines []string
	for i, a := range actions {
		if !strings.Contains(strings.ToLower(a.Title), strings.ToLower(q.a.Query)) {
			continue
		}
		if len(lines) < maxActions {
			lines = append(lines, "  "+a.line(i))
		}
	}
	if len(lines) == 0 {
		return "No code actions.", nil
	}
	return counted(len(lines), "code action") + ":\n" + strings.Join(lines, "\n"), nil
}

// action is a code action of an answer, whose edit is read when needed.
type action struct {
	Title    string          `json:"title"`
	Kind     string          `json:"kind"`
	Edit     json.RawMessage `json:"edit"`
	Disabled json.RawMessage `json:"disabled"` // a text, or an object with a reason
}

func (a action) line(i int) string {
	line := strconv.Itoa(i) + ": "
	if a.Kind != "" {
		line += "[" + shown(a.Kind, 60) + "] "
	}
	line += shown(a.Title, maxName)
	if why := a.unusable(); why != "" {
		line += " (can't be applied here: it " + why + ")"
	}
	return line
}

// unusable returns why the action cannot be applied, after "it"; "" if it can.
func (a action) unusable() string {
	disabled := len(a.Disabled) > 0 && !slices.Contains([]string{"null", "false", `""`}, string(a.Disabled))
	edit, ok := object[map[string]json.RawMessage](a.Edit)
	switch {
	case disabled:
		return "is disabled"
	case !ok || len(edit) == 0:
		return "runs a command of the editor"
	}
	return ""
}

// actions returns the code actions at the place of the call.
func (q question) actions(ctx context.Context) ([]action, error) {
	path, text, err := q.file(ctx)
	if err != nil {
		return nil, err
	}
	at, err := q.position(text)
	if err != nil {
		return nil, err
	}
	area := Range{at, at}
	if q.a.Symbol == "" { // the whole line
		start, end, err := q.lineOf(text)
		if err != nil {
			return nil, err
		}
		area = Range{q.s.o.Editor.Position(text, start), q.s.o.Editor.Position(text, start+len(strings.TrimSuffix(text[start:end], "\r")))}
	}
	raw, err := q.ask(ctx, CodeActions, CodeActionsParams{URI: q.s.o.Editor.URI(path), Range: area})
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(list[action](raw), func(a action) bool { return strings.TrimSpace(a.Title) == "" }), nil
}

// chosen returns the action that a call names by its number or a part of its title.
func (q question) chosen(ctx context.Context) (action, error) {
	all, err := q.actions(ctx)
	if err != nil {
		return action{}, err
	}
	if n, err := strconv.Atoi(q.a.Query); err == nil && 0 <= n && n < len(all) {
		return all[n], nil
	}
	var found []action
	for _, a := range all {
		if a.Title == q.a.Query {
			return a, nil
		}
		if strings.Contains(strings.ToLower(a.Title), strings.ToLower(q.a.Query)) {
			found = append(found, a)
		}
	}
	if len(found) == 1 {
		return found[0], nil
	}
	return action{}, fault.New(fault.Ambiguous, "%q names %s. List the code actions without apply, and repeat the call with the number or the title of one.",
		shown(q.a.Query, maxName), counted(len(found), "code action"))
}

// plan is the effect of a rename or a code action, before it is made.
type plan struct {
	title string // "Rename a to b"
	files []tool.Rewrite
	names []string // of the files, for the model
	diff  string
}

// plan asks for the edits of the call and applies them to the texts of the files, not to the files.
func (q question) plan(ctx context.Context) (*plan, error) {
	p := &plan{}
	var raw json.RawMessage
	if q.a.Action == "rename" {
		place, err := q.place(ctx)
		if err != nil {
			return nil, err
		}
		raw, err = q.ask(ctx, Rename, RenameParams{place.URI, place.Position, q.a.NewName})
		if err != nil {
			return nil, err
		}
		from := q.a.Symbol
		if from == "" {
			from = "the symbol in line " + strconv.Itoa(q.a.Line)
		}
		p.title = "Rename " + shown(from, maxName) + " to " + shown(q.a.NewName, maxName)
	} else {
		a, err := q.chosen(ctx)
		if err != nil {
			return nil, err
		}
		if why := a.unusable(); why != "" {
			return nil, fault.New(fault.Denied, "The code action %q can't be applied here: it %s.", shown(a.Title, maxName), why)
		}
		raw, p.title = a.Edit, `Apply "`+shown(a.Title, maxName)+`"`
	}
	edits, err := q.readEdit(raw)
	if err != nil {
		return nil, err
	}
	return p, q.fill(ctx, p, edits)
}

// fileEdits are the edits of one file.
type fileEdits struct {
	path    string
	version int
	edits   []TextEdit
}

// readEdit reads a WorkspaceEdit. Unlike other answers, one with a value of a wrong shape is refused as a whole: a part of
// a rename breaks the code.
func (q question) readEdit(raw json.RawMessage) (files []fileEdits, err error) {
	wrong := fault.New(fault.IO, "The editor's answer is not an edit, so nothing was done.")
	if strings.TrimSpace(string(raw)) == "null" || len(raw) == 0 {
		return nil, nil
	}
	edit, ok := object[WorkspaceEdit](raw)
	if !ok {
		return nil, wrong
	}
	at, total := map[string]int{}, 0
	add := func(uri string, version int, edits []TextEdit) error {
		path, isFile := q.s.o.Editor.Path(uri)
		total += len(edits)
		switch {
		case !isFile:
			return fault.New(fault.Denied, "The edit changes %s, which is not a file, so nothing was done.", shown(uri, maxName))
		case total > maxEdits:
			return fault.New(fault.Denied, "The edit has more than %d changes, so nothing was done.", maxEdits)
		case slices.ContainsFunc(edits, func(e TextEdit) bool { return !e.Range.valid() }):
			return wrong
		case len(edits) == 0:
			return nil
		}
		i, known := at[path]
		if !known {
			i = len(files)
			at[path] = i
			files = append(files, fileEdits{path: path, version: version})
		}
		files[i].edits = append(files[i].edits, edits...)
		return nil
	}
	for _, d := range edit.DocumentChanges {
		if d.Kind != "" {
			return nil, fault.New(fault.Denied, "The edit also makes, moves or removes files, which is not supported here, so nothing was done.")
		}
		if err := add(d.TextDocument.URI, d.TextDocument.Version, d.Edits); err != nil {
			return nil, err
		}
	}
	if len(edit.DocumentChanges) == 0 { // else changes is for clients that don't know the other
		for uri, edits := range edit.Changes {
			if err := add(uri, 0, edits); err != nil {
				return nil, err
			}
		}
	}
	if len(files) > maxFiles {
		return nil, fault.New(fault.Denied, "The edit changes more than %d files, so nothing was done.", maxFiles)
	}
	slices.SortFunc(files, func(a, b fileEdits) int { return strings.Compare(a.path, b.path) })
	return files, nil
}

// fill works out the new texts of the files.
func (q question) fill(ctx context.Context, p *plan, all []fileEdits) error {
	var diff strings.Builder
	work := int64(0)
	for _, f := range all {
		r, err := q.s.o.Files.Rewrite(ctx, q.env, f.path)
		if err != nil {
			return fmt.Errorf("nothing was done, because a file can't be changed: %w", err)
		}
		if r.Was.Open && f.version > 0 && int64(f.version) != r.Was.Version {
			return fault.New(fault.Stale, "%s changed while the editor was asked, so nothing was done. Repeat the call.", q.name(f.path))
		}
		if work += int64(len(f.edits)) * int64(len(r.Was.Content)); work > maxWork || ctx.Err() != nil {
			return fault.New(fault.Denied, "The edit is too large, so nothing was done.")
		}
		content, ok := q.s.rewritten(string(r.Was.Content), f.edits)
		if !ok {
			return fault.New(fault.IO, "The changes in %s overlap, so nothing was done.", q.name(f.path))
		}
		if content == string(r.Was.Content) {
			continue
		}
		r.Content = []byte(content)
		p.files, p.names = append(p.files, r), append(p.names, q.name(f.path))
		diff.WriteString(tool.Diff(q.name(f.path), r.Was.Content, r.Content))
	}
	p.diff = diff.String()
	if len(p.files) == 0 {
		return fault.New(fault.NotFound, "The language servers have no edit for this call, so nothing was done.")
	}
	p.title += " in " + p.names[0]
	if len(p.names) > 1 {
		p.title = strings.TrimSuffix(p.title, p.names[0]) + counted(len(p.names), "file")
	}
	return nil
}

// rewritten returns a text after edits. ok is false if they overlap.
func (s *Senses) rewritten(text string, edits []TextEdit) (result string, ok bool) {
	type span struct {
		from, to int
		text     string
	}
	spans := make([]span, len(edits))
	for i, e := range edits {
		spans[i] = span{s.o.Editor.Offset(text, e.Range.Start), s.o.Editor.Offset(text, e.Range.End), e.NewText}
	}
	slices.SortStableFunc(spans, func(a, b span) int { return a.from - b.from }) // insertions at one place keep their order
	var b strings.Builder
	end := 0
	for _, sp := range spans {
		if sp.from < end || sp.to < sp.from {
			return "", false
		}
		b.WriteString(text[end:sp.from])
		b.WriteString(strings.ToValidUTF8(sp.text, "\uFFFD"))
		end = sp.to
	}
	b.WriteString(text[end:])
	return b.String(), true
}

// preview returns the effect of a call that applies edits, for the user, and keeps it for the call.
func (c *calls) preview(ctx context.Context, env tool.Env, raw json.RawMessage) (tool.Preview, error) {
	a, err := parse(raw, c.actions)
	if err != nil {
		return tool.Preview{}, err
	}
	p, err := question{c.s, env, a}.plan(ctx)
	if err != nil {
		return tool.Preview{}, err
	}
	v := tool.Preview{Title: p.title, Diff: p.diff}
	for _, f := range p.files {
		v.Paths = append(v.Paths, f.Path)
	}
	if len(p.files) == 1 {
		v.Target = p.files[0].Target
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.planned[string(raw)] = p
	return v, nil
}

// apply makes the edits that preview showed last for the same arguments. The editor is not asked again, because it could
// answer with other edits than those that the user approved.
func (c *calls) apply(ctx context.Context, env tool.Env, raw json.RawMessage) (string, error) {
	c.mu.Lock()
	p := c.planned[string(raw)]
	delete(c.planned, string(raw))
	c.mu.Unlock()
	if p == nil {
		return "", fault.New(fault.Denied, "This call was not approved, so nothing was done.")
	}
	var done, failed, notes []string
	for i, f := range p.files {
		note, err := c.s.o.Files.Write(ctx, env, p.title, f)
		if err != nil {
			failed = append(failed, p.names[i]+": "+err.Error())
			continue
		}
		done = append(done, p.names[i])
		if note = strings.TrimSpace(note); note != "" && !slices.Contains(notes, note) {
			notes = append(notes, note)
		}
	}
	if len(done) == 0 {
		return "", fault.New(fault.IO, "Nothing was changed. %s", strings.Join(failed, " "))
	}
	text := "Done: " + p.title + ". Changed " + strings.Join(done, ", ") + "."
	if len(notes) > 0 {
		text += " " + strings.Join(notes, " ")
	}
	if len(failed) > 0 {
		return "", fault.New(fault.IO, "%s Not changed: %s", text, strings.Join(failed, " "))
	}
	return text, nil
}
