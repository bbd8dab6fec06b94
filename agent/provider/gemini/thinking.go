package gemini

import (
	"strings"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
)

type thinkingConfig struct {
	IncludeThoughts bool   `json:"includeThoughts,omitzero"`
	Level           string `json:"thinkingLevel,omitzero"`
	Budget          *int   `json:"thinkingBudget,omitzero"`
}

// budgets are the tokens for thinking that a family of models may use at each level.
type budgets struct {
	family string
	least  int // without thinking; more than 0 for models that always think
	tokens map[provider.Level]int
}

// Differs: pi sends no budget at all to 2.5 Pro without thinking, which the service refuses.
var families = []budgets{
	{"2.5-pro", 128, map[provider.Level]int{provider.Minimal: 128, provider.Low: 2048, provider.Medium: 8192, provider.High: 32768}},
	{"2.5-flash-lite", 0, map[provider.Level]int{provider.Minimal: 512, provider.Low: 2048, provider.Medium: 8192, provider.High: 24576}},
	{"2.5-flash", 0, map[provider.Level]int{provider.Minimal: 128, provider.Low: 2048, provider.Medium: 8192, provider.High: 24576}},
}

// unlimited lets the model choose how much it thinks.
const unlimited = -1

// usual is the reserve for the thinking of a model without a budget, in tokens.
const usual = 8192

// think returns how much the model is to think, and by how many tokens thinking may lengthen an
// answer. nil leaves the choice to the service.
func think(req provider.Request) (config *thinkingConfig, reserve int) {
	m := req.Model
	if !m.Reasoning {
		return nil, 0
	}
	on := req.Thinking != "" && req.Thinking != provider.Off
	if leveled(m) {
		return &thinkingConfig{IncludeThoughts: on, Level: level(m, req.Thinking, on)}, usual
	}
	for _, f := range families {
		if !strings.Contains(m.ID, f.family) {
			continue
		}
		n := f.least
		if on {
			n = req.Budget(req.Thinking, f.budget(req.Thinking))
		}
		return &thinkingConfig{IncludeThoughts: on, Budget: &n}, n
	}
	if !on {
		return nil, usual
	}
	n := unlimited
	return &thinkingConfig{IncludeThoughts: true, Budget: &n}, usual
}

func (f budgets) budget(l provider.Level) int {
	if n, ok := f.tokens[l]; ok {
		return n
	}
	return f.tokens[provider.High]
}

// level returns the service's name of a level. Models with levels always think; the lowest one is
// as close to no thinking as they get.
func level(m provider.Model, want provider.Level, on bool) string {
	if !on {
		want = provider.Off
	}
	got := m.Clamp(want)
	switch mapped := m.ThinkingLevelMap[got]; {
	case mapped != nil:
		return strings.ToUpper(*mapped)
	case got == provider.Off && gemma4.MatchString(m.ID):
		return "MINIMAL"
	case got == provider.Off:
		return "LOW" // all of Gemini have it
	default:
		return strings.ToUpper(string(got))
	}
}
