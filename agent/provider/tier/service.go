package tier

import (
	"regexp"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
)

// ofOpenAI matches the ids of the models that OpenAI serves. Its open models run at other services, which
// refuse the tiers of OpenAI.
var ofOpenAI = regexp.MustCompile(`^(gpt-[0-9]|chatgpt-|codex-|o[0-9])`)

// FamilyOf returns the family of a model; ok is false for a model whose service has no tiers.
func FamilyOf(m provider.Model) (f Family, ok bool) {
	switch {
	case m.Provider == "openrouter":
		return routed(m.ID)
	case m.Provider == "fireworks", m.Provider == "github-copilot":
		return "", false // they refuse the member, or have tiers of their own
	case m.Provider == "openai" && speaksOpenAI(m.API), m.API == provider.AzureResponses:
		return OpenAI, true
	case m.Provider == "anthropic" && m.API == provider.AnthropicMessages:
		return Anthropic, true
	case m.API == provider.GoogleVertex, m.Provider == "google" && m.API == provider.GoogleGenerativeAI:
		return Google, true
	case speaksOpenAI(m.API) && ofOpenAI.MatchString(m.ID[strings.LastIndexByte(m.ID, '/')+1:]):
		return OpenAI, true // a service that passes requests on
	default:
		return "", false
	}
}

func speaksOpenAI(api provider.API) bool {
	return api == provider.OpenAICompletions || api == provider.OpenAIResponses
}

// routed returns the family of a model that OpenRouter serves.
func routed(id string) (f Family, ok bool) {
	switch vendor, _, _ := strings.Cut(id, "/"); vendor {
	case "openai":
		return OpenAI, true
	case "google":
		return Google, true
	default:
		return "", false // it ignores the tier of others
	}
}

// Offered returns the tiers that the service of a model offers, nil for none.
func Offered(m provider.Model) []string {
	f, ok := FamilyOf(m)
	switch {
	case !ok:
		return nil
	case m.Provider == "openrouter" && f == OpenAI:
		return []string{Auto, Flex, Scale, Priority}
	case m.API == provider.AzureResponses:
		return []string{Auto, Default, Priority}
	case f == OpenAI:
		return Names
	case f == Anthropic, m.API == provider.GoogleVertex:
		return []string{Priority}
	default:
		return []string{Flex, Priority}
	}
}
