package setup

import (
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/agent/frontmatter"
	"github.com/xcsh-ls/xcsh-ls/agent/sensitive"
	"github.com/xcsh-ls/xcsh-ls/agent/tool/ignore"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// Skill is a skill: instructions that a model reads when they match its task.
type Skill struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Path        string `json:"path"`
	Scope       Scope  `json:"scope" jsonschema:"user or project"`
	Source      string `json:"source" jsonschema:"The program whose directory it is in."`
	Hidden      bool   `json:"hidden,omitempty" jsonschema:"It is not offered to the model; the user can still invoke it."`
	Body        string `json:"-"` // without front matter, trimmed
}

// Dir returns the directory to which the skill's paths are relative.
func (s Skill) Dir() string { return filepath.Dir(s.Path) }

const (
	maxSkills      = 300  // of a result
	maxName        = 100  // bytes of the name of a skill, template or rule
	maxDescription = 2000 // bytes
)

// skillDir is a directory with skills.
type skillDir struct {
	place     place
	source    string
	deep      bool // skills may be at any depth, and files at the top are skills too, as in pi
	described bool // a skill without a description is not one
}

func (l *looking) findSkills() {
	dirs := l.ompSkillDirs
	if l.program == session.Pi {
		dirs = l.piSkillDirs
	}
	seen, visited := map[string]string{}, map[string]bool{}
	for _, d := range dirs() {
		if d.deep {
			l.skillsBelow(d, seen, visited)
			continue
		}
		for _, e := range l.list(d.place) {
			if e.dir && !strings.HasPrefix(e.name, ".") {
				l.skill(d, d.place.join(e.name).join("SKILL.md"), e.name, seen)
			}
		}
	}
}

// skillsBelow finds the skills of pi: a directory with a SKILL.md is one, and the others are searched. A place
// in the settings may be a file.
func (l *looking) skillsBelow(d skillDir, seen map[string]string, visited map[string]bool) {
	if strings.HasSuffix(d.place.path, ".md") {
		l.skill(d, d.place, d.place.base(".md"), seen)
		return
	}
	l.descend(d, d.place, nil, 0, seen, visited)
}

// descend searches a directory. above are the rules of the directory that it is in, nil at the top.
func (l *looking) descend(d skillDir, at place, above *ignore.Rules, depth int, seen map[string]string, visited map[string]bool) {
	real := sensitive.Resolve(l.Fs, at.full())
	if visited[real] || depth > maxDepth {
		return
	}
	visited[real] = true
	entries := l.list(at)
	for _, e := range entries {
		if e.name == "SKILL.md" && !e.dir {
			l.skill(d, at.join(e.name), filepath.Base(at.path), seen)
			return
		}
	}
	rules := above
	if depth == 0 && len(entries) > 0 {
		rules = ignore.Load(l.Fs, at.full())
	} else if depth > 0 {
		rules = above.Enter(l.Fs, at.full(), infos(entries))
	}
	for _, e := range entries {
		switch {
		case strings.HasPrefix(e.name, "."), e.name == "node_modules", rules.Ignored(e.name, e.dir):
		case e.dir:
			l.descend(d, at.join(e.name), rules, depth+1, seen, visited)
		case depth == 0 && strings.HasSuffix(e.name, ".md"):
			l.skill(d, at.join(e.name), strings.TrimSuffix(e.name, ".md"), seen)
		}
	}
}

func infos(entries []entry) (all []fs.FileInfo) {
	for _, e := range entries {
		all = append(all, e.info)
	}
	return all
}

// skill reads a skill. name is its name unless its front matter has one.
func (l *looking) skill(d skillDir, p place, name string, seen map[string]string) {
	text, ok := l.whole(p, maxBody)
	if !ok {
		return
	}
	meta, body := frontmatter.Split(text)
	if named := frontmatter.Text(meta, "name"); named != "" {
		name = named
	}
	description := frontmatter.Text(meta, "description")
	path := p.full()
	switch {
	case description == "" && d.deep && filepath.Base(path) != "SKILL.md":
		return // another text, such as a README
	case description == "" && d.described:
		l.unused(path, "it has no description")
		return
	case name == "" || len(name) > maxName || strings.ContainsAny(name, "/\\\x00\n\r\t <>\""):
		l.unused(path, "the name "+quote(name)+" of the skill is not valid")
		return
	case frontmatterOff(meta):
		l.leaveOut(KindSkill, name, path, "It is turned off in its front matter.")
		return
	case !l.admit(KindSkill, p.scope(), name, path):
		return
	}
	if by, taken := seen[name]; taken {
		l.shadowed(KindSkill, name, path, by)
		return
	}
	if len(l.r.Skills) >= maxSkills {
		l.budget.spent = true
		return
	}
	seen[name] = path
	l.r.Skills = append(l.r.Skills, Skill{
		Name: name, Description: clip(description), Path: path, Scope: p.scope(), Source: d.source,
		Hidden: frontmatter.True(meta, "disableModelInvocation") || l.program != session.Pi && frontmatter.True(meta, "hide"), Body: body,
	})
}

// frontmatterOff reports whether a file turns itself off.
func frontmatterOff(meta map[string]any) bool {
	on, set := meta["enabled"].(bool)
	return set && !on
}

// clip returns the beginning of a description.
func clip(text string) string {
	if len(text) > maxDescription {
		return strings.ToValidUTF8(text[:maxDescription], "") + "…"
	}
	return text
}
