// Package configured has the settings of the terminal programs that the loop of this program honours: what a set-up
// says about retries, compaction, thinking, tools, the shell and the queue.
//
// A setting of the editor takes precedence over all of them. Values are bounded: a file may be of a project that the
// user trusted.
package configured

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/xcsh-ls/xcsh-ls/agent/compaction"
	"github.com/xcsh-ls/xcsh-ls/agent/loop"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/setup"
	"github.com/xcsh-ls/xcsh-ls/session"
)

const (
	maxRetries = 50
	maxDelay   = 10 * time.Minute
	maxTokens  = 10_000_000
)

// on returns whether a setting is on; it is the standard value if nothing sets it.
func on(r *setup.Resolved, name string, standard bool) bool {
	s, _ := r.Setting(name)
	if v, ok := s.Bool(); ok {
		return v
	}
	return standard
}

// number returns a whole number from least to most; ok is false if nothing sets a valid one.
func number(r *setup.Resolved, name string, least, most int) (n int, ok bool) {
	s, found := r.Setting(name)
	v, valid := s.Number()
	if !found || !valid || v < float64(least) {
		return 0, false
	}
	return int(min(v, float64(most))), true
}

// Retry returns the retries of failed requests. editor has those that the editor or a flag sets.
func Retry(r *setup.Resolved, editor loop.Retry) loop.Retry {
	if !editor.Disabled && editor.Attempts == 0 {
		n, set := number(r, "retry.maxRetries", 0, maxRetries)
		editor.Attempts = n
		editor.Disabled = set && n == 0 || !on(r, "retry.enabled", true)
	}
	if ms, ok := number(r, "retry.baseDelayMs", 1, int(maxDelay.Milliseconds())); ok && editor.Base == 0 {
		editor.Base = time.Duration(ms) * time.Millisecond
	}
	for _, name := range []string{"retry.maxAgentDelayMs", "retry.maxDelayMs"} {
		if ms, ok := number(r, name, 1, int(maxDelay.Milliseconds())); ok && editor.Limit == 0 {
			editor.Limit = time.Duration(ms) * time.Millisecond
		}
	}
	return editor
}

// Compaction returns when the conversation with a model is compacted. editor has the settings of the editor.
func Compaction(r *setup.Resolved, editor compaction.Settings, model provider.Ref) compaction.Settings {
	c := editor
	c.Disabled = c.Disabled || !on(r, "compaction.enabled", true)
	tokens := func(field *int, name string) {
		for _, name := range []string{"compaction.modelOverrides." + model.String() + "." + name, "compaction." + name} {
			if n, ok := number(r, name, 1, maxTokens); ok && *field == 0 {
				*field = n
			}
		}
	}
	tokens(&c.Reserve, "reserveTokens")
	tokens(&c.KeepRecent, "keepRecentTokens")
	tokens(&c.ThresholdTokens, "thresholdTokens")
	tokens(&c.ThresholdPercent, "thresholdPercent")
	if r.Program == session.Omp.String() {
		c.ReservePercent = cmp.Or(c.ReservePercent, 15)
	}
	return c
}

// Budgets returns the tokens for thinking by level, as far as a set-up has them.
func Budgets(r *setup.Resolved) map[provider.Level]int {
	budgets := map[provider.Level]int{}
	for _, level := range provider.Levels {
		if n, ok := number(r, "thinkingBudgets."+string(level), 1, maxTokens); ok {
			budgets[level] = n
		}
	}
	return budgets
}

// Together reports whether all queued messages of a kind are sent at once.
func Together(r *setup.Resolved, when loop.When) bool {
	name := "steeringMode"
	if when == loop.FollowUp {
		name = "followUpMode"
	}
	s, _ := r.Setting(name)
	return s.Text() == "all"
}

// BlocksImages reports whether models get no images.
func BlocksImages(r *setup.Resolved) bool { return on(r, "images.blockImages", false) }

// Shell returns the program that runs commands, "" for the usual one, and the lines that come before each command.
func Shell(r *setup.Resolved) (program, prefix string) {
	path, _ := r.Setting("shellPath")
	before, _ := r.Setting("shellCommandPrefix")
	return strings.TrimSpace(path.Text()), strings.TrimSpace(before.Text())
}

// otherNames are the names that the programs have for tools of this program.
var otherNames = map[string][]string{"find": {"glob"}, "grep": {"search"}, "todo": {"todo_write"}, "todo_write": {"todo"}}

func namesOf(tool string) []string { return append([]string{tool}, otherNames[tool]...) }

// HasTool reports whether a set-up leaves a tool of this program on.
func HasTool(r *setup.Resolved, tool string) bool {
	names := namesOf(tool)
	for _, name := range names {
		if !on(r, name+".enabled", true) {
			return false
		}
	}
	s, found := r.Setting("defaultTools")
	if !found {
		return true
	}
	listed, has := false, false
	for _, entry := range s.Texts() {
		switch name := strings.TrimLeft(entry, "+-"); {
		case strings.HasPrefix(entry, "-"):
			if slices.Contains(names, name) {
				return false
			}
		case !strings.HasPrefix(entry, "+"): // the whole list
			listed = true
			fallthrough
		default:
			has = has || slices.Contains(names, name)
		}
	}
	return has || !listed
}

// Approval is what a set-up says about the calls of a tool.
type Approval string

// The approvals.
const (
	NoApproval Approval = ""       // the editor's approval mode holds
	Allow      Approval = "allow"  // as if the user had allowed the tool before
	Prompt     Approval = "prompt" // the user is always asked
	Deny       Approval = "deny"
)

// ToolApproval returns what a set-up says about the calls of a tool, and the file that says so. Only the user's own
// files can allow something.
func ToolApproval(r *setup.Resolved, tool string) (a Approval, path string) {
	for _, name := range namesOf(tool) {
		s, found := r.Setting("tools.approval." + name)
		if !found {
			continue
		}
		switch a = Approval(s.Text()); {
		case a == Deny, a == Prompt, a == Allow && s.Scope == setup.User:
			return a, s.Path
		}
	}
	return NoApproval, ""
}
