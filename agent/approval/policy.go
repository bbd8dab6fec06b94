package approval

import (
	"bytes"
	"encoding/json"
	"slices"

	jsonv2 "github.com/go-json-experiment/json"

	"github.com/xcsh-ls/xcsh-ls/agent/sandbox"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// policy is a snapshot of the permissions. It is immutable.
type policy struct {
	root      string
	protected []string // directories that are never inside
	sensitive func(path string) bool
	sandbox   bool
	mode      Mode
	rules     []Rule
	version   int // of the gate's mode and rules
}

const bashTool = "bash"

func isEdit(tool string) bool { return tool == "edit" || tool == "write" }

// edits reports whether the call edits the files of its preview, and does nothing else.
func (r Request) edits() bool { return r.Edits || isEdit(r.Tool) }

// decide reports whether a request needs no approval, and at which level a command then runs. It
// returns an error for a request that cannot be approved.
func (p policy) decide(r Request) (level sandbox.Level, allowed bool, err error) {
	level = p.level(r)
	switch {
	case r.Hosted != "":
		return p.hosted(r)
	case r.EndsPlan:
		return level, false, nil
	case r.Site != "":
		return p.site(r)
	case r.AlwaysAsk && !r.Changed && p.mode != ReadOnly:
		return level, false, nil
	case r.MCP != nil:
		return p.remote(r)
	case p.mode == ReadOnly:
		return level, false, fault.New(fault.Denied, "The approval mode is read-only: edits and commands are not allowed.")
	case r.Changed: // no rule covers the changes to keep
		return level, p.mode == Yolo, nil
	case r.Tool == bashTool:
		return p.command(r)
	case p.mode == Yolo:
		return level, !r.Unsandboxed, nil
	case r.edits():
		return level, (r.Allowed || p.edits()) && p.free(r.Preview.Paths), nil
	default:
		return level, !r.Unsandboxed && (r.Allowed || p.toolRule(r)), nil
	}
}

// toolRule reports whether a rule allows a tool that is not one of ours.
func (p policy) toolRule(r Request) bool {
	return slices.ContainsFunc(p.rules, func(rule Rule) bool {
		return rule.valid() && rule.Tool != "" && rule.Tool == r.Tool && rule.Digest == r.Digest && rule.Engine == "" && rule.Server == ""
	})
}

// command decides about a command. The mode is not read-only.
func (p policy) command(r Request) (level sandbox.Level, allowed bool, err error) {
	level = p.level(r)
	l, ok := bashLine(r.Args)
	switch {
	case r.OtherShell && p.mode != Yolo:
		return level, false, nil
	case r.Unsandboxed: // in every mode
		return level, ok && p.lineRule(l, true), nil
	case p.mode == Yolo:
		return level, true, nil
	case !ok:
		return level, false, nil
	case l.background: // also one that only reads: it would do so for ever
		return level, p.lineRule(l, false), nil
	case p.sandbox && len(r.Blocked) == 0 && p.reads(l):
		return sandbox.Strict, true, nil
	default:
		return level, p.lineRule(l, false) || p.covered(l), nil
	}
}

// level is how far a command reaches that a rule, the mode or the user allows.
func (p policy) level(r Request) sandbox.Level {
	if !p.sandbox || r.Unsandboxed {
		return sandbox.Outside
	}
	return sandbox.Standard
}

// edits reports whether files of the folder may be changed.
func (p policy) edits() bool {
	return p.mode == AutoEdit || slices.ContainsFunc(p.rules, func(r Rule) bool { return r.valid() && r.Edit })
}

// prompt returns the permission prompt of a request.
func (p policy) prompt(r Request) Prompt {
	if r.EndsPlan { // no rule can allow the next one
		return Prompt{Request: r}
	}
	if r.Site != "" {
		rule := Rule{Site: r.Site, Private: r.Private}
		rule.Text = rule.String()
		return Prompt{Request: r, Rules: []Rule{rule}}
	}
	if r.Changed {
		return Prompt{Request: r, Protected: r.Preview.Paths}
	}
	files := r.Preview.Paths
	var mentioned []string // protected files that a command may change
	l, ok := bashLine(r.Args)
	if ok = ok && r.Tool == bashTool && r.Effect == Runs; ok {
		s, _ := p.scene(l)
		files = p.written(l, s)
		mentioned = p.mentioned(l, s)
	}
	q := Prompt{Request: r, Outside: p.outside(files), Protected: unique(slices.Concat(p.touched(files), mentioned))}
	switch {
	case len(q.Protected) > 0 || len(q.Outside) > 0, r.AlwaysAsk, r.OtherShell: // no rule can allow the next one
	case r.Hosted != "":
		q.Rules = p.hostedRules(r, l, ok)
	case r.MCP != nil:
		q.Rules, q.Wider = remoteRules(*r.MCP)
	case r.edits():
		if p.free(files) {
			q.Rules = []Rule{{Edit: true}}
		}
	case r.Tool != bashTool:
		q.Rules = []Rule{{Tool: r.Tool, Digest: r.Digest}}
	case ok && r.Unsandboxed:
		q.Rules = unsandboxedRule(l)
	case ok:
		q.Rules = p.suggest(l)
	}
	for _, rules := range [][]Rule{q.Rules, q.Wider} {
		for i, rule := range rules {
			rules[i].Text = rule.String()
		}
	}
	return q
}

// unsandboxedRule returns the rule that allows exactly this line outside of the sandbox. A command that the user
// cannot see whole gets none.
func unsandboxedRule(l line) []Rule {
	if !printable(l.text) || len(l.text) > maxLine {
		return nil
	}
	return []Rule{{Line: l.text, Outside: true, Background: l.background}}
}

// bashLine reads the command of a call. Arguments that are not in the tool's own form
// could run it in another way than the command does.
func bashLine(args json.RawMessage) (line, bool) {
	var a struct {
		Command string  `json:"command"`
		Timeout float64 `json:"timeout"`

		Background bool `json:"background"`
	}
	if err := jsonv2.Unmarshal(bytes.TrimSpace(args), &a, jsonv2.RejectUnknownMembers(true)); err != nil || a.Command == "" {
		return line{}, false
	}
	l := parse(a.Command)
	l.background = a.Background
	return l, true
}
