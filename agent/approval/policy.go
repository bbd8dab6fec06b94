package approval

import (
	"bytes"
	"encoding/json"
	"slices"

	jsonv2 "github.com/go-json-experiment/json"

	"github.com/xcsh-ls/xcsh-ls/session/fault"
)

// policy is what is allowed at one moment. It is immutable.
type policy struct {
	root      string
	protected []string // directories that are never inside
	mode      Mode
	rules     []Rule
	version   int // of the gate's mode and rules
}

const bashTool = "bash"

func isEdit(tool string) bool { return tool == "edit" || tool == "write" }

// decide reports whether nobody has to be asked. An error is that nobody may be.
func (p policy) decide(r Request) (allowed bool, err error) {
	switch {
	case p.mode == ReadOnly:
		return false, fault.New(fault.Denied, "The approval mode is read-only: nothing may be changed, and no commands run.")
	case p.mode == Yolo:
		return true, nil
	case isEdit(r.Tool):
		return p.edits() && p.allInside(r.Preview.Paths), nil
	case r.Tool == bashTool:
		l, ok := bashLine(r.Args)
		return ok && p.allows(l), nil
	default:
		return slices.ContainsFunc(p.rules, func(rule Rule) bool { return rule.Tool != "" && rule.Tool == r.Tool }), nil
	}
}

// edits reports whether files of the folder may be changed.
func (p policy) edits() bool {
	return p.mode == AutoEdit || slices.ContainsFunc(p.rules, func(r Rule) bool { return r.Edit })
}

func (p policy) allInside(paths []string) bool {
	return len(paths) > 0 && !slices.ContainsFunc(paths, func(path string) bool { return !p.inside(path) })
}

// allows reports whether a command line may run. Output that goes to files is an edit.
func (p policy) allows(l line) bool {
	if l.exactly(p.rules) {
		return true
	}
	if !l.covered(p.rules) {
		return false
	}
	root, ok := real(p.root)
	dir := root
	for _, to := range l.dirs {
		if dir = resolve(dir, to); climbs(to) || !p.inside(dir) {
			return false
		}
	}
	// A program's directory is the one that a link leads to, and ".." is above that.
	dir, there := real(dir)
	for _, file := range l.writes {
		if file == "/dev/null" {
			continue
		}
		// Before a cd a name is relative to the folder, behind it to another one.
		if !p.edits() || !ok || !there || climbs(file) || !p.allInside([]string{resolve(root, file), resolve(dir, file)}) {
			return false
		}
	}
	return true
}

// rulesFor are what a person can allow beyond one request; nothing where that would be
// too much.
func (p policy) rulesFor(r Request) []Rule {
	switch {
	case isEdit(r.Tool) && !p.allInside(r.Preview.Paths):
		return nil
	case isEdit(r.Tool):
		return []Rule{{Edit: true}}
	case r.Tool != bashTool:
		return []Rule{{Tool: r.Tool}}
	}
	if l, ok := bashLine(r.Args); ok {
		return l.suggest(p)
	}
	return nil
}

// bashLine reads the command of a call. Arguments that are not in the tool's own form
// could run it in another way than the command says.
func bashLine(args json.RawMessage) (line, bool) {
	var a struct {
		Command string  `json:"command"`
		Timeout float64 `json:"timeout"`
	}
	if err := jsonv2.Unmarshal(bytes.TrimSpace(args), &a, jsonv2.RejectUnknownMembers(true)); err != nil || a.Command == "" {
		return line{}, false
	}
	return parse(a.Command), true
}
