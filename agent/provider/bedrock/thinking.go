package bedrock

import (
	"regexp"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
)

// fields are those that the makers of models have for thinking.
type fields struct {
	Thinking        *thinking `json:"thinking,omitzero"`
	OutputConfig    *effort   `json:"output_config,omitzero"`
	Beta            []string  `json:"anthropic_beta,omitempty"`
	Reasoning       *effort   `json:"reasoning,omitzero"`
	ReasoningEffort string    `json:"reasoning_effort,omitzero"`
}

type thinking struct {
	Type         string `json:"type"`
	BudgetTokens int    `json:"budget_tokens,omitzero"`
	Display      string `json:"display,omitzero"`
}

type effort struct {
	Effort string `json:"effort"`
}

// budgets are the tokens for thinking of models that want a number.
var budgets = map[provider.Level]int{
	provider.Minimal: 1024, provider.Low: 2048, provider.Medium: 8192,
	provider.High: 16384, provider.XHigh: 16384, provider.Max: 16384,
}

// names returns the id and the name of the model with their words separated by hyphens. The id of an
// inference profile does not say which model it is for.
func names(m provider.Model) string {
	return strings.ToLower(separators.ReplaceAllString(m.ID+" "+m.Name, "-"))
}

var (
	separators = regexp.MustCompile(`[\s_.:/]+`)
	adaptive   = regexp.MustCompile(`opus-4-[678]|sonnet-4-6|(opus|sonnet|haiku|fable)-5`)
)

func isClaude(m provider.Model) bool { return strings.Contains(names(m), "claude") }

// think returns how much the model is to think. It lengthens the answer of req by a budget.
func think(req *provider.Request, region string) *fields {
	m, level := req.Model, req.Thinking
	if !m.Reasoning || level == "" || level == provider.Off {
		return nil // which is the default of all of them
	}
	word := string(level)
	if level == provider.Minimal {
		word = "low"
	}
	if mapped := m.ThinkingLevelMap[level]; mapped != nil {
		word = *mapped
	}
	display := "summarized"
	if strings.HasPrefix(region, "us-gov-") {
		display = "" // not known there
	}
	switch name := names(m); {
	case isClaude(m) && adaptive.MatchString(name):
		return &fields{Thinking: &thinking{Type: "adaptive", Display: display}, OutputConfig: &effort{word}}
	case isClaude(m):
		const least = 1024 // of thinking, and of the answer behind it
		want := max(req.Budget(level, budgets[level]), least)
		if req.MaxTokens > 0 {
			req.MaxTokens += want
		}
		budget := min(want, req.Limit()-least)
		if budget < least {
			return nil
		}
		return &fields{
			Thinking: &thinking{Type: "enabled", BudgetTokens: budget, Display: display},
			Beta:     []string{"interleaved-thinking-2025-05-14"},
		}
	case strings.Contains(name, "gpt-oss"):
		if level == provider.XHigh || level == provider.Max {
			word = "high"
		}
		return &fields{ReasoningEffort: word}
	case strings.Contains(name, "gpt-"):
		return &fields{Reasoning: &effort{word}}
	default:
		return nil
	}
}
