package provider

import (
	"encoding/json"
	"slices"
	"strings"
)

// API names a wire format. The names are those of the session files.
type API string

// The wire formats that are spoken here.
const (
	AnthropicMessages  API = "anthropic-messages"
	OpenAICompletions  API = "openai-completions"
	OpenAIResponses    API = "openai-responses"
	AzureResponses     API = "azure-openai-responses" // Responses of a customer's own resource
	GoogleGenerativeAI API = "google-generative-ai"
	GoogleVertex       API = "google-vertex" // the same at a project of Google Cloud
	BedrockConverse    API = "bedrock-converse-stream"
	Scripted           API = "scripted" // the offline model
)

// Model is one entry of the catalogue. Its JSON is that of pi's models.json, so that a user's own
// file can be laid over it.
type Model struct {
	ID               string            `json:"id"`
	Name             string            `json:"name,omitempty"`
	API              API               `json:"api,omitempty"`
	Provider         string            `json:"provider,omitempty"`
	BaseURL          string            `json:"baseUrl,omitempty"`
	Reasoning        bool              `json:"reasoning,omitempty"`
	ThinkingLevelMap map[Level]*string `json:"thinkingLevelMap,omitempty"` // the service's name of a level; null: not supported
	Input            []string          `json:"input,omitempty"`            // "text", "image"
	Cost             *Cost             `json:"cost,omitempty"`             // nil: unknown, which is not the same as free
	ContextWindow    int               `json:"contextWindow,omitempty"`    // tokens
	MaxTokens        int               `json:"maxTokens,omitempty"`        // of an answer
	Headers          map[string]string `json:"headers,omitempty"`
	Compat           json.RawMessage   `json:"compat,omitempty"` // quirks of a service, read by its provider
}

// Info is one model of a list.
type Info struct {
	Model
	Available bool // it can be used now: there is a key, or none is needed
}

// Cost is the price of a million tokens, in US dollars.
type Cost struct {
	Input      float64    `json:"input"`
	Output     float64    `json:"output"`
	CacheRead  float64    `json:"cacheRead"`
	CacheWrite float64    `json:"cacheWrite"`
	Tiers      []CostTier `json:"tiers,omitempty"`
}

// CostTier replaces the prices of a request with more input than InputTokensAbove.
type CostTier struct {
	InputTokensAbove int     `json:"inputTokensAbove"`
	Input            float64 `json:"input"`
	Output           float64 `json:"output"`
	CacheRead        float64 `json:"cacheRead"`
	CacheWrite       float64 `json:"cacheWrite"`
}

// Defaults for a model that is in no catalogue.
const (
	DefaultContextWindow = 128_000
	DefaultMaxTokens     = 16_384
)

// Ref names a model.
type Ref struct {
	Provider string `json:"provider"`
	ID       string `json:"id"`
}

// Ref returns the model's name.
func (m Model) Ref() Ref { return Ref{m.Provider, m.ID} }

// String is "provider/id".
func (r Ref) String() string { return r.Provider + "/" + r.ID }

// ParseRef splits "provider/id" at the first slash. An id may have more of them.
func ParseRef(s string) (r Ref, ok bool) {
	r.Provider, r.ID, ok = strings.Cut(s, "/")
	return r, ok && r.Provider != "" && r.ID != ""
}

// TakesImages reports whether the model can be shown images.
func (m Model) TakesImages() bool { return slices.Contains(m.Input, "image") }

// signsTexts reports whether the model may sign a text, even an empty one.
func (m Model) signsTexts() bool { return m.API == GoogleGenerativeAI || m.API == GoogleVertex }

// Window is the context window in tokens.
func (m Model) Window() int {
	if m.ContextWindow > 0 {
		return m.ContextWindow
	}
	return DefaultContextWindow
}

// AnswerLimit is the largest answer in tokens.
func (m Model) AnswerLimit() int {
	if m.MaxTokens > 0 {
		return m.MaxTokens
	}
	return DefaultMaxTokens
}

// Level is how much a model may think before it answers.
type Level string

// The levels, from none to most.
const (
	Off     Level = "off"
	Minimal Level = "minimal"
	Low     Level = "low"
	Medium  Level = "medium"
	High    Level = "high"
	XHigh   Level = "xhigh"
	Max     Level = "max"
)

// Levels are all levels in their order.
var Levels = []Level{Off, Minimal, Low, Medium, High, XHigh, Max}

// SupportedLevels returns the levels that the model supports, in their order. A model that does not
// reason has only off. The two highest need an entry in the catalogue, all other levels are supported
// unless the catalogue excludes them.
func (m Model) SupportedLevels() []Level {
	if !m.Reasoning {
		return []Level{Off}
	}
	var levels []Level
	for _, l := range Levels {
		mapped, known := m.ThinkingLevelMap[l]
		switch {
		case known && mapped == nil:
		case !known && (l == XHigh || l == Max):
		default:
			levels = append(levels, l)
		}
	}
	return levels
}

// Clamp returns the level nearest to want that the model supports: the highest one not above it,
// else the lowest there is. An unknown level counts as medium.
//
// Differs: pi chooses a higher level where it can. Less thinking than requested is cheaper than
// more, and it is xcsh's rule.
func (m Model) Clamp(want Level) Level {
	supported := m.SupportedLevels()
	at := slices.Index(Levels, want)
	if at < 0 {
		at = slices.Index(Levels, Medium)
	}
	for _, l := range slices.Concat(reversed(Levels[:at+1]), Levels[at+1:]) {
		// Off means no thinking at all, not little.
		if slices.Contains(supported, l) && (l != Off || want == Off) {
			return l
		}
	}
	return Off
}

func reversed(levels []Level) []Level {
	r := slices.Clone(levels)
	slices.Reverse(r)
	return r
}

// Price returns the price of u. known is false if the catalogue has no price.
func (m Model) Price(u Usage) (cost UsageCost, known bool) {
	if m.Cost == nil {
		return UsageCost{}, false
	}
	p := *m.Cost
	above := -1
	for _, t := range p.Tiers {
		if in := u.Input + u.CacheRead + u.CacheWrite; in > t.InputTokensAbove && t.InputTokensAbove > above {
			above = t.InputTokensAbove
			p.Input, p.Output, p.CacheRead, p.CacheWrite = t.Input, t.Output, t.CacheRead, t.CacheWrite
		}
	}
	const (
		million   = 1e6
		longWrite = 2 // what an hour in the cache costs, as a multiple of the price of input
	)
	cost = UsageCost{
		Input: float64(u.Input) * p.Input / million, Output: float64(u.Output) * p.Output / million,
		CacheRead:  float64(u.CacheRead) * p.CacheRead / million,
		CacheWrite: (float64(u.CacheWrite-u.CacheWriteLong)*p.CacheWrite + float64(u.CacheWriteLong)*longWrite*p.Input) / million,
	}
	cost.Total = cost.Input + cost.Output + cost.CacheRead + cost.CacheWrite
	return cost, true
}
