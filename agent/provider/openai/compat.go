package openai

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
)

// compat are the switches for services that speak Chat Completions in their own way, with
// the names that they have in models.json.
type compat struct {
	SupportsStore            *bool `json:"supportsStore"`
	SupportsDeveloperRole    *bool `json:"supportsDeveloperRole"`
	SupportsReasoningEffort  *bool `json:"supportsReasoningEffort"`
	SupportsUsageInStreaming *bool `json:"supportsUsageInStreaming"`
	SupportsFinishReason     *bool `json:"supportsFinishReason"`

	MaxTokensField string `json:"maxTokensField"`
	ThinkingFormat string `json:"thinkingFormat"`

	RequiresToolResultName           bool  `json:"requiresToolResultName"`
	RequiresAssistantAfterToolResult bool  `json:"requiresAssistantAfterToolResult"`
	RequiresThinkingAsText           bool  `json:"requiresThinkingAsText"`
	RequiresNonNullAssistantContent  bool  `json:"requiresNonNullAssistantContent"`
	RequiresReasoningContent         *bool `json:"requiresReasoningContentOnAssistantMessages"`

	CacheControlFormat         string `json:"cacheControlFormat"`
	SendSessionAffinityHeaders *bool  `json:"sendSessionAffinityHeaders"`
	SessionAffinityFormat      string `json:"sessionAffinityFormat"`

	ThinkingTokenBudgetField    string                    `json:"thinkingTokenBudgetField"`
	SupportsThinkingTokenBudget bool                      `json:"supportsThinkingTokenBudget"`
	ChatTemplateKwargs          map[string]jsontext.Value `json:"chatTemplateKwargs"`
	ChatTemplateArgs            map[string]jsontext.Value `json:"chatTemplateArgs"`
	ReasoningEffortMap          map[string]string         `json:"reasoningEffortMap"`

	SupportsStrictMode              bool  `json:"supportsStrictMode"`
	SupportsLongCacheRetention      *bool `json:"supportsLongCacheRetention"`
	SupportsExplicitPromptCacheMode bool  `json:"supportsExplicitPromptCacheMode"`

	SignsCalls bool `json:"-"` // Gemini: tool calls have a signature

	ZaiToolStream        bool                      `json:"zaiToolStream"`
	OpenRouterRouting    jsontext.Value            `json:"openRouterRouting"`
	VercelGatewayRouting map[string]jsontext.Value `json:"vercelGatewayRouting"`
	ExtraBody            map[string]jsontext.Value `json:"extraBody"`
}

// service holds the known properties of a service, by its name or address.
type service struct {
	names, hosts []string

	plain     bool   // no store, no developer role
	noEffort  bool   // no reasoning_effort
	maxTokens bool   // max_tokens instead of max_completion_tokens
	thinking  string // the form in which thinking is requested
	mixed     bool   // its models run elsewhere, and not all of that accepts strict tools
}

var services = []service{
	{names: []string{"deepseek"}, hosts: []string{"deepseek.com"}, plain: true, maxTokens: true, thinking: "deepseek"},
	{names: []string{"zai", "zai-coding-cn"}, hosts: []string{"api.z.ai", "bigmodel.cn"}, plain: true, noEffort: true, maxTokens: true, thinking: "zai"},
	{names: []string{"together"}, hosts: []string{"together.ai", "together.xyz"}, plain: true, noEffort: true, maxTokens: true, thinking: "together"},
	{names: []string{"moonshotai", "moonshotai-cn"}, hosts: []string{"api.moonshot."}, plain: true, noEffort: true, maxTokens: true},
	{names: []string{"openrouter"}, hosts: []string{"openrouter.ai"}, thinking: "openrouter", mixed: true},
	{names: []string{"huggingface"}, hosts: []string{"router.huggingface.co"}, mixed: true},
	{names: []string{"xai"}, hosts: []string{"api.x.ai"}, plain: true, noEffort: true},
	{names: []string{"cerebras"}, hosts: []string{"cerebras.ai"}, plain: true},
	{names: []string{"nvidia"}, hosts: []string{"integrate.api.nvidia.com"}, plain: true, noEffort: true, maxTokens: true},
	{names: []string{"ant-ling"}, hosts: []string{"api.ant-ling.com"}, plain: true, noEffort: true, maxTokens: true, thinking: "ant-ling"},
	{names: []string{"cloudflare-ai-gateway"}, hosts: []string{"gateway.ai.cloudflare.com"}, plain: true, noEffort: true, maxTokens: true},
	{names: []string{"cloudflare-workers-ai"}, hosts: []string{"api.cloudflare.com"}, plain: true, mixed: true},
	{names: []string{"opencode"}, hosts: []string{"opencode.ai"}, plain: true, mixed: true},
	{hosts: []string{"chutes.ai"}, plain: true, maxTokens: true},
	{names: []string{"mistral"}, hosts: []string{"mistral.ai"}, plain: true, maxTokens: true},
	{
		names: []string{"ollama", "lmstudio", "lm-studio", "llama.cpp", "vllm"}, hosts: []string{"//localhost", "//127.0.0.1", "//[::1]"},
		plain: true, maxTokens: true,
	},
}

// compatOf returns the switches of the model: its own, else the known ones of its service.
func compatOf(m provider.Model) compat {
	var c compat
	unmarshalLoosely(m.Compat, &c)
	var known service
	for _, s := range services {
		at := func(host string) bool { return strings.Contains(strings.ToLower(m.BaseURL), host) }
		if slices.Contains(s.names, m.Provider) || slices.ContainsFunc(s.hosts, at) {
			known = s
			break
		}
	}
	c.SignsCalls = signsCalls(m)
	c.SupportsStrictMode = c.SupportsStrictMode && (!known.mixed || strings.HasPrefix(m.ID, "openai/"))
	router := known.thinking == "openrouter"
	developer := !known.plain && !router
	if router {
		developer = strings.HasPrefix(m.ID, "anthropic/") || strings.HasPrefix(m.ID, "openai/")
	}
	preset(&c.SupportsStore, !known.plain)
	preset(&c.SupportsDeveloperRole, developer)
	preset(&c.SupportsReasoningEffort, !known.noEffort)
	preset(&c.SupportsUsageInStreaming, true)
	preset(&c.SupportsFinishReason, true)
	preset(&c.RequiresReasoningContent, known.thinking == "deepseek")
	preset(&c.SendSessionAffinityHeaders, router)
	if c.MaxTokensField == "" && known.maxTokens {
		c.MaxTokensField = "max_tokens"
	}
	if c.ThinkingFormat == "" {
		c.ThinkingFormat = known.thinking
	}
	if c.CacheControlFormat == "" && router && strings.HasPrefix(m.ID, "anthropic/") {
		c.CacheControlFormat = "anthropic"
	}
	if c.SessionAffinityFormat == "" && router {
		c.SessionAffinityFormat = "openrouter"
	}
	if c.ThinkingTokenBudgetField == "" && c.SupportsThinkingTokenBudget {
		c.ThinkingTokenBudgetField = "thinking_token_budget"
	}
	return c
}

// signsCalls reports whether the model is Gemini 3 or newer at Google's own endpoint. Older ones and
// gateways do without signatures, and some refuse unknown members.
func signsCalls(m provider.Model) bool {
	_, version, ok := strings.Cut(strings.ToLower(m.ID), "gemini-")
	google := m.Provider == "google" || strings.Contains(strings.ToLower(m.BaseURL), "googleapis.com")
	return ok && google && !strings.HasPrefix(version, "1") && !strings.HasPrefix(version, "2")
}

// preset sets a switch that the model does not set.
func preset(to **bool, v bool) {
	if *to == nil {
		*to = &v
	}
}
