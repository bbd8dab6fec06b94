package approval

import (
	"slices"
	"strings"
)

// lineRule reports whether a rule is about this very line.
func (p policy) lineRule(l line, outside bool) bool {
	return slices.ContainsFunc(p.rules, func(r Rule) bool {
		return r.valid() && r.Line != "" && r.Line == l.text && r.Outside == outside && r.Background == l.background
	})
}

// scene returns where the programs of a line run. It is not ok when that may be outside of the
// folder.
func (p policy) scene(l line) (s scene, ok bool) {
	root, ok := real(p.root)
	s = scene{policy: p, dirs: []string{root}, system: p.sandbox}
	if !ok {
		return s, false
	}
	for _, to := range l.dirs {
		dir := resolve(root, to)
		if climbs(to) || !p.inside(dir) || p.private(dir) {
			return s, false
		}
		if dir = realOr(dir); dir != root {
			s.dirs = append(s.dirs, dir)
		}
	}
	return s, true
}

// reads reports whether a line only reads. In a read-only sandbox such a line runs without
// approval.
func (p policy) reads(l line) bool {
	if l.opaque || len(l.writes) > 0 || len(l.calls) == 0 {
		return false
	}
	s, ok := p.scene(l)
	return ok && !slices.ContainsFunc(l.calls, func(c call) bool { return !isKind(like(c, s), noop, read) })
}

func isKind(e *entry, kinds ...kind) bool { return e != nil && slices.Contains(kinds, e.kind) }

// covered reports whether rules allow every program of a line and the files that it writes.
func (p policy) covered(l line) bool {
	s, ok := p.scene(l)
	if !ok || l.opaque {
		return false
	}
	allowed := 0
	for _, c := range l.calls {
		switch {
		case slices.ContainsFunc(p.rules, func(r Rule) bool { return r.valid() && r.allows(c, s) }):
			allowed++
		case !p.needless(c, s):
			return false
		}
	}
	return (allowed > 0 || len(l.writes) > 0) && p.mayWrite(l, s)
}

// needless reports whether a program needs no rule in a line that has others.
func (p policy) needless(c call, s scene) bool {
	e := steady(c, s)
	return isKind(e, noop) || p.sandbox && isKind(e, read)
}

// mayWrite reports whether the files that a line writes may be changed. Before a cd a name is
// relative to the folder, after it to another one.
func (p policy) mayWrite(l line, s scene) bool {
	files := p.written(l, s)
	return len(files) == 0 || p.edits() && p.free(files)
}

// written are the files that a line redirects output to.
func (p policy) written(l line, s scene) (files []string) {
	for _, name := range l.writes {
		for _, dir := range s.dirs {
			files = append(files, resolve(dir, name))
		}
	}
	return files
}

// suggest returns rules that would allow the line, and similar lines where that can be stated in a
// few words.
func (p policy) suggest(l line) []Rule {
	if !printable(l.text) || len(l.text) > maxLine {
		return nil // an unseen command gets no lasting rule
	}
	this := []Rule{{Line: l.text, Background: l.background}}
	s, ok := p.scene(l)
	if !ok || l.opaque || l.background {
		return this
	}
	var rules []Rule
	for _, c := range l.calls {
		if p.needless(c, s) {
			continue
		}
		r, ok := ruleFor(c, s)
		if !ok {
			return this
		}
		if !slices.ContainsFunc(rules, r.equal) {
			rules = append(rules, r)
		}
	}
	// Effects that rules about programs do not allow, such as writing elsewhere, need a rule for
	// the line.
	p.rules = slices.Concat(p.rules, rules)
	if len(rules) == 0 || !p.covered(l) {
		return this
	}
	return rules
}

// ruleFor is the rule that a user would want for one program: about all its uses that the table
// describes, else about this very command.
func ruleFor(c call, s scene) (Rule, bool) {
	if e := steady(c, s); e != nil {
		return Rule{Command: slices.Clone(e.words)}, true
	}
	words, ok := exactWords(c, s)
	return Rule{Words: words, Exact: true}, ok
}

// mentioned returns the protected files that the line names in calls that no entry of the table
// describes. A command that cannot be parsed is checked word by word.
func (p policy) mentioned(l line, s scene) (files []string) {
	for _, c := range l.calls {
		if like(c, s) == nil {
			for _, w := range c.words[1:] {
				files = append(files, w.text)
			}
		}
	}
	if l.opaque {
		files = append(files, strings.FieldsFunc(l.text, func(r rune) bool { return strings.ContainsRune(" \t\n<>|&;()'\"`=$,:", r) })...)
	}
	return slices.DeleteFunc(files, func(file string) bool { return !p.namesProtected(file, s) })
}

func (p policy) namesProtected(file string, s scene) bool {
	if isFlag(file) {
		return false
	}
	if Protected(file) {
		return true
	}
	return slices.ContainsFunc(s.dirs, func(dir string) bool {
		rel, ok := p.relative(resolve(dir, file))
		return ok && Protected(rel)
	})
}

func unique(all []string) (once []string) {
	for _, s := range all {
		if !slices.Contains(once, s) {
			once = append(once, s)
		}
	}
	return once
}
