package ttsr

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/xcsh-ls/xcsh-ls/agent/frontmatter"
)

const (
	// maxFile bounds the file of a rule, in bytes. A longer one is not a rule.
	maxFile = 64 << 10

	// maxBody bounds the text of a rule for the model, in bytes.
	maxBody = 16 << 10

	// maxReminder bounds the short form of a rule, in bytes. A longer one is not used, as in oh-my-pi.
	maxReminder = 1024

	maxName  = 100 // characters of the name of a rule
	maxGlobs = 64  // of a rule, and tokens of its scope
)

// Mode determines which matches of a rule stop an answer.
type Mode string

// The modes. Matches that stop no answer reach the model later, as a reminder.
const (
	Always    Mode = "always"
	ProseOnly Mode = "prose-only"
	ToolOnly  Mode = "tool-only"
	Never     Mode = "never"
)

func (m Mode) valid() bool { return slices.Contains([]Mode{Always, ProseOnly, ToolOnly, Never}, m) }

// stops reports whether a match in a source stops the answer.
func (m Mode) stops(in source) bool {
	switch m {
	case Never:
		return false
	case ProseOnly:
		return in != tools
	case ToolOnly:
		return in == tools
	default:
		return true
	}
}

// Rule is a stream rule. It does not change.
type Rule struct {
	Name string // of its file; unique among the rules of a session
	Path string // absolute

	text       string // for the model
	conditions []condition
	scope      scope
	globs      []string // if any, only calls that name a matching file match
	agents     []string // globs for the names of agents; none means all
	mode       Mode     // "" is that of the settings
}

// For reports whether the rule applies to the agent with this name.
func (r *Rule) For(agent string) bool {
	return len(r.agents) == 0 || slices.ContainsFunc(r.agents, func(glob string) bool {
		ok, err := doublestar.Match(glob, strings.ToLower(agent))
		return ok && err == nil
	})
}

// parse reads the rule in a file. It returns nil for a file without a stream rule, with the reason if
// the author of the file would want to know it.
func parse(name, path, content string) (rule *Rule, problem string) {
	meta, body := frontmatter.Split(content)
	if enabled, ok := meta["enabled"].(bool); ok && !enabled {
		return nil, ""
	}
	patterns, scopes := trigger(meta)
	if len(patterns) == 0 {
		return nil, ""
	}
	r := &Rule{Name: name, Path: path, text: body, globs: globs(meta), agents: lower(splitAll(strs(meta["agents"])))}
	if reminder, ok := meta["reminder"].(string); ok && strings.TrimSpace(reminder) != "" && len(reminder) <= maxReminder {
		r.text = reminder
	}
	if mode, ok := meta["interruptMode"].(string); ok && Mode(mode).valid() {
		r.mode = Mode(mode)
	}
	if strings.TrimSpace(r.text) == "" || len([]rune(name)) > maxName {
		return nil, "it has no text, or its name is too long"
	}
	if len(r.text) > maxBody {
		return nil, fmt.Sprintf("its text is longer than %d bytes", maxBody)
	}
	r.conditions, problem = compileAll(patterns)
	if len(r.conditions) == 0 {
		return nil, problem
	}
	if r.scope = parseScope(scopes); !r.scope.reachable() {
		return nil, "its scope excludes everything"
	}
	return r, problem
}

// trigger returns the conditions and the scope of a rule. A condition that looks like a pattern for
// file names stands for every edit of such a file, as in oh-my-pi.
func trigger(meta map[string]any) (conditions, scopes []string) {
	raw := meta["condition"]
	for _, old := range []string{"ttsr_trigger", "ttsrTrigger"} {
		if raw == nil {
			raw = meta[old]
		}
	}
	scopes = splitAll(strs(meta["scope"]))
	shorthand := false
	for _, token := range strs(raw) {
		if !isFileGlob(token) {
			conditions = append(conditions, token)
			continue
		}
		shorthand = true
		scopes = append(scopes, "tool:edit("+token+")", "tool:write("+token+")")
	}
	if shorthand && len(conditions) == 0 {
		conditions = []string{".*"}
	}
	return conditions, scopes
}

var (
	regexpOnly = regexp.MustCompile(`[\\^$+|()]`)
	globOnly   = regexp.MustCompile(`[?*\[\]{}]`)
	extension  = regexp.MustCompile(`^\*\.[^\s/]+$`)
)

// isFileGlob reports whether a condition looks like a pattern for file names.
func isFileGlob(s string) bool {
	return !regexpOnly.MatchString(s) && globOnly.MatchString(s) && (strings.Contains(s, "/") || extension.MatchString(s))
}

// globs returns the patterns of the files that a rule is about: its globs, or applyTo of GitHub's
// instructions, where some patterns mean every file.
func globs(meta map[string]any) []string {
	list := strs(meta["globs"])
	if apply := splitAll(strs(meta["applyTo"])); list == nil && len(apply) > 0 {
		if slices.ContainsFunc(apply, func(g string) bool { return g == "*" || g == "**" || g == "**/*" }) {
			return nil
		}
		list = apply
	}
	return list[:min(len(list), maxGlobs)]
}

// strs returns a text, or the texts of a list, trimmed and without empty ones.
func strs(v any) (list []string) {
	values, ok := v.([]any)
	if !ok {
		values = []any{v}
	}
	for _, v := range values {
		if s, ok := v.(string); ok && strings.TrimSpace(s) != "" && len(list) < maxGlobs {
			list = append(list, strings.TrimSpace(s))
		}
	}
	return list
}

func lower(list []string) []string {
	for i := range list {
		list[i] = strings.ToLower(list[i])
	}
	return list
}
