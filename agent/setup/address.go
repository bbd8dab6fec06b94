package setup

import (
	"path/filepath"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/agent/sensitive"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// SkillFile returns the path of the file that models call skill://NAME or skill://NAME/PATH; address is the part
// after the scheme. The file is below the directory of the skill, also after links are followed. The error is of
// kind notFound for an unknown skill, and lists the skills, and of kind outsideRoot for a path that leaves the
// directory. The file need not exist.
func (f Finder) SkillFile(r *Resolved, address string) (string, error) {
	name, rest, more := strings.Cut(address, "/")
	s, ok := r.Skill(name)
	if !ok {
		return "", r.noSkill(name)
	}
	if !more || rest == "" {
		return s.Path, nil
	}
	dir := sensitive.Resolve(f.Fs, s.Dir())
	local := filepath.FromSlash(rest)
	if !filepath.IsLocal(local) || strings.ContainsAny(rest, "\\\x00") {
		return "", outside(name, rest)
	}
	full := sensitive.Resolve(f.Fs, filepath.Join(dir, local))
	if in, err := filepath.Rel(dir, full); err != nil || !filepath.IsLocal(in) {
		return "", outside(name, rest)
	}
	return full, nil
}

func outside(name, rest string) error {
	return fault.New(fault.OutsideRoot, "%s is not below the directory of the skill %s.", fault.OneLine(rest), name).With("field", "path")
}

// noSkill is the error for a name of which there is no skill.
func (r *Resolved) noSkill(name string) error {
	var names []string
	for _, s := range r.Skills {
		names = append(names, s.Name)
	}
	return fault.New(fault.NotFound, "There is no skill %q. %s", fault.OneLine(name), existing("skills", names))
}

// RuleFile returns the path of the rule that models call rule://NAME. The error is of kind notFound and lists the
// rules.
func (r *Resolved) RuleFile(name string) (string, error) {
	var names []string
	for _, rule := range r.Rules {
		if rule.Name == name {
			return rule.Path, nil
		}
		names = append(names, rule.Name)
	}
	return "", fault.New(fault.NotFound, "There is no rule %q. %s", fault.OneLine(name), existing("rules", names))
}

// existing is a sentence about the names of what exists.
func existing(what string, names []string) string {
	if len(names) == 0 {
		return "This folder has no " + what + "."
	}
	return "The " + what + " are: " + strings.Join(names, ", ") + "."
}
