package setup

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/xcsh-ls/xcsh-ls/session"
)

// The settings that matter outside of the terminal, by name. A name with * stands for any word.
var (
	commonForms = forms(map[form][]string{
		textForm:   {"defaultThinkingLevel", "shellPath", "steeringMode", "followUpMode"},
		listForm:   {"enabledModels"},
		boolForm:   {"compaction.enabled", "retry.enabled", "images.autoResize", "images.blockImages"},
		numberForm: {"thinkingBudgets.*", "compaction.reserveTokens", "compaction.keepRecentTokens", "retry.maxRetries", "retry.baseDelayMs"},
	})
	piForms = forms(map[form][]string{
		textForm:   {"defaultProvider", "defaultModel", "modelThinkingLevels.*", "shellCommandPrefix", "sessionDir", "defaultProjectTrust"},
		listForm:   {"defaultTools", "skills", "prompts"},
		numberForm: {"retry.maxAgentDelayMs", "compaction.modelOverrides.*.*"},
	})
	ompForms = forms(map[form][]string{
		textForm:   {"modelRoles.*", "tools.approvalMode", "tools.approval.*", "serviceTier", "tier.*", "ttsr.interruptMode"},
		listForm:   {"enabledProviders", "disabledProviders", "ttsr.disabledRules"},
		objectForm: {"bash.patterns"},
		scalarForm: {"mcp.discoveryMode"},
		numberForm: {"compaction.thresholdPercent", "compaction.thresholdTokens", "retry.maxDelayMs"},
		boolForm: {
			"mcp.enableProjectConfig", "ttsr.enabled", "read.enabled", "bash.enabled", "edit.enabled", "write.enabled", "grep.enabled",
			"find.enabled", "glob.enabled", "todo.enabled", "ask.enabled", "task.enabled", "lsp.enabled", "web_search.enabled", "python.enabled", "eval.enabled",
		},
	})
)

// maxWord limits what * stands for. The expressions don't count: each counting one would cost every start 200 KB.
const maxWord = 200

// named are the forms of settings by their names, those with * apart.
type named struct {
	exact    map[string]form
	patterns map[*regexp.Regexp]form
}

func forms(lists map[form][]string) named {
	n := named{map[string]form{}, map[*regexp.Regexp]form{}}
	for f, names := range lists {
		for _, name := range names {
			if !strings.Contains(name, "*") {
				n.exact[name] = f
				continue
			}
			pattern := strings.ReplaceAll(regexp.QuoteMeta(name), `\*`, `(.+)`)
			n.patterns[regexp.MustCompile("^"+pattern+"$")] = f
		}
	}
	return n
}

func (n named) form(name string) (f form, ok bool) {
	if f, ok = n.exact[name]; ok {
		return f, true
	}
	for pattern, f := range n.patterns {
		words := pattern.FindStringSubmatch(name)
		if words != nil && !slices.ContainsFunc(words[1:], func(word string) bool { return utf8.RuneCountInString(word) > maxWord }) {
			return f, true
		}
	}
	return 0, false
}

// form returns the form of a setting of the program.
func (l *looking) form(name string) (f form, ok bool) {
	if f, ok = commonForms.form(name); ok {
		return f, true
	}
	if l.program == session.Pi {
		return piForms.form(name)
	}
	return ompForms.form(name)
}
