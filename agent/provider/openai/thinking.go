package openai

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/internal/guard"
)

// thinkingFields are the fields that services have to switch thinking on or off.
type thinkingFields struct {
	ReasoningEffort    string         `json:"reasoning_effort,omitzero"`
	Reasoning          any            `json:"reasoning,omitzero"`
	Thinking           any            `json:"thinking,omitzero"`
	EnableThinking     *bool          `json:"enable_thinking,omitzero"`
	ChatTemplateKwargs map[string]any `json:"chat_template_kwargs,omitempty"`
	ChatTemplateArgs   map[string]any `json:"chat_template_args,omitempty"`

	TokenBudget    int `json:"thinking_token_budget,omitzero"`
	Budget         int `json:"thinking_budget,omitzero"`
	BudgetTokens   int `json:"thinking_budget_tokens,omitzero"`
	ReasoningLimit int `json:"reasoning_budget,omitzero"`
}

// budgets are the tokens for thinking where a number is wanted.
var budgets = map[provider.Level]int{
	provider.Minimal: 1024, provider.Low: 2048, provider.Medium: 8192,
	provider.High: 16384, provider.XHigh: 16384, provider.Max: 16384,
}

func think(req provider.Request, c compat) (f thinkingFields) {
	if !req.Model.Reasoning {
		return f
	}
	m, on := req.Model, wanted(req)
	word := effort(m, req.Thinking)
	if named := c.ReasoningEffortMap[string(req.Thinking)]; named != "" {
		word = named
	}
	offWord, canStop := off(m)
	switched := map[bool]string{true: "enabled", false: "disabled"}[on]
	if on && *c.SupportsReasoningEffort {
		f.ReasoningEffort = word
	}
	switch c.ThinkingFormat {
	case "zai":
		f.Thinking = map[string]any{"type": switched}
	case "deepseek":
		if on || canStop {
			f.Thinking = map[string]any{"type": switched}
		}
	case "qwen":
		f.EnableThinking = &on
	case "qwen-chat-template":
		f.ReasoningEffort = ""
		f.ChatTemplateKwargs = map[string]any{"enable_thinking": on, "preserve_thinking": true}
	case "chat-template":
		f.ReasoningEffort = ""
		f.ChatTemplateKwargs = templateValues(req, c.ChatTemplateKwargs, on, word)
	case "baseten":
		f.ChatTemplateArgs = templateValues(req, c.ChatTemplateArgs, on, word)
	case "openrouter":
		f.ReasoningEffort = ""
		if on {
			f.Reasoning = map[string]any{"effort": word}
		} else if canStop {
			f.Reasoning = map[string]any{"effort": offWord}
		}
	case "ant-ling":
		f.ReasoningEffort = ""
		if _, named := m.ThinkingLevelMap[req.Thinking]; on && named {
			f.Reasoning = map[string]any{"effort": word}
		}
	case "together":
		f.Reasoning = map[string]any{"enabled": on}
	case "string-thinking":
		f.ReasoningEffort = ""
		if on {
			f.Thinking = word
		} else if canStop {
			f.Thinking = offWord
		}
	default:
		if _, named := m.ThinkingLevelMap[provider.Off]; !on && named && canStop && *c.SupportsReasoningEffort {
			f.ReasoningEffort = offWord
		}
	}
	f.limit(req, c, on)
	return f
}

// limit caps thinking for services that take a number and count it towards the answer.
func (f *thinkingFields) limit(req provider.Request, c compat, on bool) {
	n := budget(req)
	if !on || n <= 0 {
		return
	}
	switch c.ThinkingTokenBudgetField {
	case "thinking_token_budget":
		f.TokenBudget = n
	case "thinking_budget":
		f.Budget = n
	case "thinking_budget_tokens":
		f.BudgetTokens = n
	case "reasoning_budget":
		f.ReasoningLimit = n
	}
}

// budget returns the number of tokens for thinking that leaves room for an answer.
func budget(req provider.Request) int {
	const leastAnswer = 1024
	return min(budgets[req.Thinking], req.Limit()-leastAnswer)
}

// templateValues fills in the values that a chat template is given.
func templateValues(req provider.Request, values map[string]jsontext.Value, on bool, word string) map[string]any {
	out := map[string]any{}
	for name, value := range values {
		var v struct {
			Var         string `json:"$var"`
			OmitWhenOff bool   `json:"omitWhenOff"`
		}
		if value.Kind() != '{' || guard.Decode(value, &v) != nil || v.Var == "" {
			out[name] = value
			continue
		}
		switch {
		case !on && v.OmitWhenOff:
		case v.Var == "thinking.enabled":
			out[name] = on
		case v.Var == "thinking.budget":
			if n := budget(req); on && n > 0 {
				out[name] = n
			}
		case on && word != "":
			out[name] = word
		case !on && req.Model.ThinkingLevelMap[provider.Off] != nil:
			out[name] = *req.Model.ThinkingLevelMap[provider.Off]
		}
	}
	return out
}
