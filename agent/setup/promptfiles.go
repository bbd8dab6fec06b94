package setup

import (
	"path/filepath"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/session"
)

// findPromptFiles finds the files in place of the system prompt and at its end.
func (l *looking) findPromptFiles() {
	l.r.System = l.promptFile(KindSystem, "SYSTEM.md")
	l.r.Append = l.promptFile(KindAppend, "APPEND_SYSTEM.md")
	if l.program == session.Pi {
		return
	}
	const template = "SYSTEM_TEMPLATE.md"
	places := []place{ofProject(l.cwd, l.dot()+"/"+template)}
	if l.agent != "" {
		places = append(places, ofUser(filepath.Join(l.agent, template)))
	}
	for _, p := range l.existing(places, true) {
		l.leaveOut(KindSystem, template, p.full(), "Only "+l.program.String()+" can compute it.")
	}
}

// promptFile returns the file that holds: the nearest one of the project if it is trusted, else the user's.
func (l *looking) promptFile(kind Kind, name string) *File {
	var places []place
	up := l.up
	if l.program == session.Pi {
		up = up[:1]
	}
	for _, dir := range up {
		places = append(places, ofProject(dir, l.dot()+"/"+name))
	}
	if l.agent != "" {
		places = append(places, ofUser(filepath.Join(l.agent, name)))
	}
	for _, f := range []struct{ source, dir string }{
		{"claude", ".claude/"}, {"codex", ".codex/"}, {"gemini", ".gemini/"}, {"agents", ".agent/"}, {"agents", ".agents/"},
	} {
		if l.foreign(f.source, Project) {
			places = append(places, ofProject(l.cwd, f.dir+name))
		}
	}
	var used *File
	for _, p := range places {
		if !l.exists(p) {
			continue
		}
		switch {
		case used != nil:
			l.shadowed(kind, name, p.full(), used.Path)
		case l.admit(kind, p.scope(), name, p.full()):
			if in, ok := l.read(p, maxText); ok && strings.TrimSpace(string(in.Content)) != "" {
				f := l.textFile(p, in.Content, in.Cut)
				used = &f
			}
		}
	}
	return used
}
