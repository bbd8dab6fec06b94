package setup

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/agent/frontmatter"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// Template is a text that the user sends as "/name arguments".
type Template struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Hint        string `json:"hint,omitempty" jsonschema:"The arguments, for display."`
	Path        string `json:"path"`
	Scope       Scope  `json:"scope" jsonschema:"user or project"`
	Source      string `json:"source" jsonschema:"The program whose directory it is in."`
	Computed    bool   `json:"computed,omitempty" jsonschema:"Only the program can compute it, because it has expressions in double braces."`
	Body        string `json:"-"` // without front matter, trimmed
}

const maxTemplates = 300 // of a result

// templateDir is a directory with templates.
type templateDir struct {
	place  place
	source string
	deep   bool // sub/x.md is x and sub:x
	named  bool // the front matter can have a name
}

func (l *looking) findTemplates() {
	dirs := l.ompTemplateDirs
	if l.program == session.Pi {
		dirs = l.piTemplateDirs
	}
	seen := map[string]string{}
	for _, d := range dirs() {
		if strings.HasSuffix(d.place.path, ".md") { // a file in the settings
			l.template(d, d.place, nil, seen)
			continue
		}
		l.templatesIn(d, d.place, nil, seen)
	}
}

func (l *looking) templatesIn(d templateDir, at place, below []string, seen map[string]string) {
	for _, e := range l.list(at) {
		switch {
		case strings.HasPrefix(e.name, "."):
		case !e.dir && strings.HasSuffix(e.name, ".md"):
			l.template(d, at.join(e.name), below, seen)
		case e.dir && d.deep && len(below) < maxDepth:
			l.templatesIn(d, at.join(e.name), append(slices.Clip(below), e.name), seen)
		}
	}
}

// template reads a template. below are the directories that it is in.
func (l *looking) template(d templateDir, p place, below []string, seen map[string]string) {
	text, ok := l.whole(p, maxBody)
	if !ok {
		return
	}
	meta, body := frontmatter.Split(text)
	if meta == nil && l.program == session.Pi { // which trims only what is behind front matter
		body = strings.ReplaceAll(strings.TrimPrefix(text, "\uFEFF"), "\r\n", "\n")
	}
	t := Template{
		Name: p.base(".md"), Description: frontmatter.Text(meta, "description"), Hint: frontmatter.Text(meta, "argumentHint"),
		Path: p.full(), Scope: p.scope(), Source: d.source, Body: body, Computed: l.program != session.Pi && strings.Contains(body, "{{"),
	}
	if name := frontmatter.Text(meta, "name"); d.named && name != "" {
		t.Name = name
	}
	if t.Description == "" {
		t.Description = firstLine(body)
	}
	t.Description, t.Hint = clip(t.Description), line(t.Hint, maxWhy)
	l.addTemplate(t, seen)
	if len(below) > 0 {
		t.Name = strings.Join(below, ":") + ":" + t.Name
		l.addTemplate(t, seen)
	}
}

func (l *looking) addTemplate(t Template, seen map[string]string) {
	switch {
	case t.Name == "" || len(t.Name) > maxName || strings.ContainsAny(t.Name, "/\\\x00\n\r\t "):
		l.unused(t.Path, "the name "+quote(t.Name)+" of the template is not valid")
		return
	case !l.admit(KindTemplate, t.Scope, t.Name, t.Path):
		return
	}
	if by, taken := seen[t.Name]; taken {
		l.shadowed(KindTemplate, t.Name, t.Path, by)
		return
	}
	if len(l.r.Templates) >= maxTemplates {
		l.budget.spent = true
		return
	}
	seen[t.Name] = t.Path
	l.r.Templates = append(l.r.Templates, t)
}

// firstLine returns the beginning of the first line of a text, which describes a template without a
// description.
func firstLine(body string) string {
	const limit = 60
	for s := range strings.SplitSeq(body, "\n") {
		if s = strings.TrimSpace(s); s == "" {
			continue
		}
		if r := []rune(s); len(r) > limit {
			return string(r[:limit]) + "..."
		}
		return s
	}
	return ""
}

// findExtensions lists the extensions of the agent directory, so that their commands can be named.
func (l *looking) findExtensions() {
	if l.agent == "" {
		return
	}
	for _, e := range l.list(ofUser(filepath.Join(l.agent, "extensions"))) {
		ext := filepath.Ext(e.name)
		if strings.HasPrefix(e.name, ".") || !e.dir && ext != ".ts" && ext != ".js" && ext != ".mjs" || len(l.r.Extensions) >= maxListed {
			continue
		}
		l.r.Extensions = append(l.r.Extensions, Extension{strings.TrimSuffix(e.name, ext), filepath.Join(l.agent, "extensions", e.name)})
	}
}
