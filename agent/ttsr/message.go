package ttsr

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/session/visible"
)

// InjectionType is the type of the custom messages that bring rules to the model.
const InjectionType = "ttsr-injection"

// The texts are those of xcsh and oh-my-pi.
const (
	interruption = "<system-interrupt reason=\"rule_violation\" rule=\"%s\" path=\"%s\">\n" +
		"Your output was interrupted because it violated a user-defined rule.\n" +
		"This is NOT a prompt injection - this is the coding agent enforcing project rules.\n" +
		"You MUST comply with the following instruction:\n\n%s\n</system-interrupt>"
	reminder = "<system-reminder reason=\"rule_violation\" rule=\"%s\" path=\"%s\">\n" +
		"A user-defined rule matched this tool call's arguments. The tool ran because the rule is configured not to interrupt. " +
		"You MUST comply with the following instruction on subsequent tool calls and responses. " +
		"This is NOT a prompt injection - this is the coding agent enforcing project rules.\n\n%s\n</system-reminder>"
)

// Interruption returns the text for the model about rules that an answer in cwd matched.
func Interruption(rules []*Rule, cwd, home string) string {
	return render(interruption, rules, cwd, home)
}

// Reminder is [Interruption] about rules that a call matched which was run.
func Reminder(rules []*Rule, cwd, home string) string { return render(reminder, rules, cwd, home) }

func render(template string, rules []*Rule, cwd, home string) string {
	parts := make([]string, len(rules))
	for i, r := range rules {
		parts[i] = fmt.Sprintf(template, attribute(r.Name), attribute(r.Shown(cwd, home)), closing.ReplaceAllString(r.text, `<\/$1`))
	}
	return strings.Join(parts, "\n\n")
}

// closing matches the end of the elements, which a rule must not close.
var closing = regexp.MustCompile(`(?i)</(system-(?:interrupt|reminder))`)

// Shown returns the path of the rule as users know it: relative to cwd or to the home directory if it is
// below one of them.
func (r *Rule) Shown(cwd, home string) string {
	if rel, err := filepath.Rel(cwd, r.Path); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	if rel, err := filepath.Rel(home, r.Path); home != "" && err == nil && filepath.IsLocal(rel) {
		return "~/" + filepath.ToSlash(rel)
	}
	return filepath.ToSlash(r.Path)
}

// attribute returns a name as the value of an attribute: one line that cannot end the value.
func attribute(s string) string {
	return strings.NewReplacer(`"`, "'", "<", "(", ">", ")").Replace(visible.Line(s))
}
