package setup

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/agent/frontmatter"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// RuleUse is how a rule reaches the model.
type RuleUse string

// The uses.
const (
	AlwaysRule RuleUse = "always" // its whole text is in the prompt
	DomainRule RuleUse = "domain" // its description is in the prompt, and its text is read when it fits
	StreamRule RuleUse = "stream" // it stops an answer, see package ttsr
)

// Rule is a rule of oh-my-pi or xcsh. pi has none.
type Rule struct {
	Name        string   `json:"name"`
	Description string   `json:"description,omitempty"`
	Globs       []string `json:"globs,omitempty" jsonschema:"The files that it is about."`
	Use         RuleUse  `json:"use" jsonschema:"always, domain or stream"`
	Path        string   `json:"path"`
	Scope       Scope    `json:"scope" jsonschema:"user or project"`
	Source      string   `json:"source" jsonschema:"The program whose directory it is in."`
	Body        string   `json:"-"` // without front matter, trimmed
}

const (
	maxRules = 200 // of a result
	maxGlobs = 64  // of a rule
)

// ruleDir is a directory with rules, or a file that is one.
type ruleDir struct {
	place  place
	source string
	file   bool
	suffix []string
	deep   bool
	sticky bool // its whole text is always used
	name   string
}

var markdown = []string{".md", ".mdc"}

func (l *looking) ruleDirs() (dirs []ruleDir) {
	id := l.program.String()
	dirs = append(dirs, ruleDir{place: ofProject(l.cwd, l.dot()+"/rules"), source: id, suffix: markdown})
	if l.agent != "" {
		dirs = append(
			dirs, ruleDir{place: ofUser(filepath.Join(l.agent, "rules")), source: id, suffix: markdown},
			ruleDir{place: ofUser(filepath.Join(l.agent, "RULES.md")), source: id, file: true, sticky: true, name: "RULES"},
		)
	}
	dirs = append(dirs, ruleDir{place: ofProject(l.cwd, l.dot()+"/RULES.md"), source: id, file: true, sticky: true, name: "RULES"})
	project := func(source, dir, name string, suffix []string) {
		if l.foreign(source, Project) {
			dirs = append(dirs, ruleDir{place: ofProject(dir, name), source: source, suffix: suffix})
		}
	}
	user := func(source, name string) {
		if l.Home != "" && filepath.Clean(l.Home) != l.cwd && l.foreign(source, User) {
			dirs = append(dirs, ruleDir{place: ofUser(filepath.Join(l.Home, filepath.FromSlash(name))), source: source, suffix: markdown})
		}
	}
	for _, name := range []string{".agent/rules", ".agents/rules"} {
		for _, dir := range l.repository() {
			project("agents", dir, name, markdown)
		}
		user("agents", name)
	}
	user("cursor", ".cursor/rules")
	project("cursor", l.cwd, ".cursor/rules", markdown)
	project("windsurf", l.cwd, ".windsurf/rules", markdown[:1])
	if l.foreign("cline", Project) {
		dirs = append(dirs, l.clineRules()...)
	}
	if l.foreign("github", Project) {
		dirs = append(dirs, ruleDir{place: ofProject(l.cwd, ".github/instructions"), source: "github", suffix: []string{".instructions.md"}, deep: true})
	}
	return dirs
}

// clineRules returns the nearest .clinerules, a directory or a file.
func (l *looking) clineRules() []ruleDir {
	for _, dir := range l.repository() {
		p := ofProject(dir, ".clinerules")
		if info, err := l.Fs.Stat(p.full()); err == nil {
			return []ruleDir{{place: p, source: "cline", file: !info.IsDir(), suffix: markdown[:1], name: "clinerules"}}
		}
	}
	return nil
}

func (l *looking) findRules() {
	if l.program == session.Pi {
		return
	}
	seen := map[string]string{}
	for _, d := range l.ruleDirs() {
		if d.file {
			l.rule(d, d.place, d.name, seen)
		} else {
			l.rulesIn(d, d.place, 0, seen)
		}
	}
}

func (l *looking) rulesIn(d ruleDir, at place, depth int, seen map[string]string) {
	for _, e := range l.list(at) {
		i := slices.IndexFunc(d.suffix, func(s string) bool { return strings.HasSuffix(e.name, s) })
		switch {
		case strings.HasPrefix(e.name, "."):
		case !e.dir && i >= 0:
			l.rule(d, at.join(e.name), strings.TrimSuffix(e.name, d.suffix[i]), seen)
		case e.dir && d.deep && depth < maxDepth:
			l.rulesIn(d, at.join(e.name), depth+1, seen)
		}
	}
}

// rule reads a rule and decides how it is used: by the first of a condition, alwaysApply and a description.
func (l *looking) rule(d ruleDir, p place, name string, seen map[string]string) {
	text, ok := l.whole(p, maxText)
	if !ok {
		return
	}
	meta, body := frontmatter.Split(text)
	path := p.full()
	r := Rule{
		Name: name, Description: clip(frontmatter.Text(meta, "description")), Globs: ruleGlobs(meta),
		Path: path, Scope: p.scope(), Source: d.source, Body: body,
	}
	switch {
	case frontmatterOff(meta):
		l.leaveOut(KindRule, name, path, "It is turned off in its front matter.")
		return
	case meta["condition"] != nil, meta["astCondition"] != nil, meta["question"] != nil, meta["ttsrTrigger"] != nil, meta["ttsr_trigger"] != nil:
		r.Use = StreamRule
	case d.sticky, frontmatter.True(meta, "alwaysApply"):
		r.Use = AlwaysRule
	case r.Description != "":
		r.Use = DomainRule
	default:
		l.leaveOut(KindRule, name, path, "It has no condition, no alwaysApply and no description.")
		return
	}
	switch {
	case len(name) > maxName:
		l.unused(path, "its name is too long")
	case !l.admit(KindRule, r.Scope, name, path):
	case seen[name] != "":
		l.shadowed(KindRule, name, path, seen[name])
	case len(l.r.Rules) >= maxRules:
		l.budget.spent = true
	case body != "":
		seen[name] = path
		l.r.Rules = append(l.r.Rules, r)
	}
}

// ruleGlobs returns the patterns of the files that a rule is about.
func ruleGlobs(meta map[string]any) (globs []string) {
	for _, key := range []string{"globs", "applyTo"} {
		values := anys(meta[key])
		if s, ok := meta[key].(string); ok {
			for glob := range strings.SplitSeq(s, ",") {
				values = append(values, glob)
			}
		}
		for _, v := range values {
			if s, ok := v.(string); ok && strings.TrimSpace(s) != "" && len(globs) < maxGlobs {
				globs = append(globs, line(s, maxWhy))
			}
		}
	}
	return globs
}
