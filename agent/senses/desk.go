package senses

import (
	"context"
	"fmt"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/session/visible"
)

// maxSelection bounds the text of a selection, in bytes.
const maxSelection = 32 << 10

// editors answers editors: the open files of the folder.
func (q question) editors(ctx context.Context) (string, error) {
	raw, err := q.ask(ctx, Editors, FolderParams{q.env.Cwd})
	if err != nil {
		return "", err
	}
	var lines []string
	left := 0
	for _, e := range list[OpenEditor](raw) {
		path, ok := q.s.o.Editor.Path(e.URI)
		if !ok || !inside(q.env.Cwd, path) || q.s.o.Files.Private(path) {
			continue
		}
		if len(lines) == maxEditors {
			left++
			continue
		}
		var about []string
		for _, property := range []struct {
			is   bool
			text string
		}{{e.Active, "active"}, {e.Visible && !e.Active, "visible"}, {e.Dirty, "unsaved changes"}} {
			if property.is {
				about = append(about, property.text)
			}
		}
		line := "  " + q.name(path)
		if len(about) > 0 {
			line += " (" + strings.Join(about, ", ") + ")"
		}
		lines = append(lines, line)
	}
	if len(lines) == 0 {
		return "No files of the folder are open.", nil
	}
	return "Open files:\n" + strings.Join(lines, "\n") + more(left), nil
}

// selection answers selection: the part of a file of the folder that the user has selected.
func (q question) selection(ctx context.Context) (string, error) {
	raw, err := q.ask(ctx, Selection, FolderParams{q.env.Cwd})
	if err != nil {
		return "", err
	}
	const none = "Nothing is selected in a file of the folder."
	l, ok := object[Location](raw)
	if !ok || !l.Range.valid() {
		return none, nil
	}
	path, ok := q.s.o.Editor.Path(l.URI)
	if !ok || !inside(q.env.Cwd, path) || q.s.o.Files.Private(path) {
		return none, nil
	}
	f, err := q.s.o.Files.Read(ctx, q.env, path)
	if err != nil {
		return "", err
	}
	text := string(f.Content)
	from, to := q.s.o.Editor.Offset(text, l.Range.Start), q.s.o.Editor.Offset(text, l.Range.End)
	if from >= to {
		return none, nil
	}
	first, last := l.Range.Start.Line+1, l.Range.End.Line+1
	if l.Range.End.Character == 0 && last > first {
		last--
	}
	head := fmt.Sprintf("Selected in %s, line %d", q.name(path), first)
	if last > first {
		head = fmt.Sprintf("Selected in %s, lines %d to %d", q.name(path), first, last)
	}
	return head + ":\n" + cut(visible.Text(strings.ToValidUTF8(text[from:to], "\uFFFD")), maxSelection), nil
}
