package catalog

import (
	"github.com/xcsh-ls/xcsh-ls/agent/provider/offline"
)

// service is what users see of a service: its name, the page on which they create a key, and the model
// with which they begin.
type service struct {
	id, name, keyPage, flagship string
}

// wellKnown are the services that are listed first, in this order.
const wellKnown = 8

// services are the services of the catalogue.
var services = []service{
	{"anthropic", "Anthropic", "https://console.anthropic.com/settings/keys", "claude-opus-5-5"},
	{"openai", "OpenAI", "https://platform.openai.com/api-keys", "gpt-6.1-sol"},
	{"google", "Google Gemini", "https://aistudio.google.com/apikey", "gemini-3.1-pro-preview"},
	{"openrouter", "OpenRouter", "https://openrouter.ai/settings/keys", "moonshotai/kimi-k3.1-pro"},
	{"deepseek", "DeepSeek", "https://platform.deepseek.com/api_keys", "deepseek-v4-pro"},
	{"xai", "xAI", "https://console.x.ai/", "grok-4.7"},
	{"groq", "Groq", "https://console.groq.com/keys", "openai/gpt-oss-120b"},
	{"zai", "Z.ai", "https://z.ai/manage-apikey/apikey-list", "glm-5.3"},

	{"amazon-bedrock", "Amazon Bedrock", "", "us.anthropic.claude-opus-4-6-v1"},
	{"ant-ling", "Ant Ling", "", "Ring-2.6-1T"},
	{"azure", "Azure OpenAI", "", "gpt-5.4"},
	{"baseten", "Baseten", "https://app.baseten.co/settings/api_keys", "zai-org/GLM-5.3"},
	{"cerebras", "Cerebras", "https://cloud.cerebras.ai/", "gpt-oss-120b"},
	{"cloudflare-ai-gateway", "Cloudflare AI Gateway", "https://dash.cloudflare.com/profile/api-tokens", "workers-ai/@cf/moonshotai/kimi-k2.6"},
	{"cloudflare-workers-ai", "Cloudflare Workers AI", "https://dash.cloudflare.com/profile/api-tokens", "@cf/moonshotai/kimi-k2.6"},
	{"fireworks", "Fireworks", "https://app.fireworks.ai/settings/users/api-keys", "accounts/fireworks/models/kimi-k3p1-pro"},
	{"github-copilot", "GitHub Copilot", "", "gpt-6.1-sol"},
	{"google-vertex", "Google Vertex AI", "", "gemini-3.1-pro-preview"},
	{"huggingface", "Hugging Face", "https://huggingface.co/settings/tokens", "moonshotai/Kimi-K2.5"},
	{"kimi-coding", "Kimi for Coding", "https://www.kimi.com/code/console", "kimi-for-coding"},
	{"meta", "Meta", "", "muse-spark-1.3"},
	{"minimax", "MiniMax", "https://platform.minimax.io/user-center/basic-information/interface-key", "MiniMax-M3"},
	{"minimax-cn", "MiniMax (China)", "https://platform.minimaxi.com/user-center/basic-information/interface-key", "MiniMax-M3"},
	{"moonshotai", "Moonshot AI", "https://platform.moonshot.ai/console/api-keys", "kimi-k3.1-pro"},
	{"moonshotai-cn", "Moonshot AI (China)", "https://platform.moonshot.cn/console/api-keys", "kimi-k3.1-pro"},
	{"nvidia", "NVIDIA", "https://build.nvidia.com/settings/api-keys", "nvidia/nemotron-3-ultra-550b-a55b"},
	{"opencode", "OpenCode Zen", "https://opencode.ai/auth", "kimi-k3"},
	{"opencode-go", "OpenCode Go", "https://opencode.ai/auth", "kimi-k3"},
	{"qwen-token-plan", "Qwen Token Plan", "", "qwen3.8-max"},
	{"qwen-token-plan-cn", "Qwen Token Plan (China)", "", "qwen3.8-max"},
	{"qwen-token-plan-individual", "Qwen Token Plan (individual)", "", "qwen3.8-max"},
	{"qwen-token-plan-individual-cn", "Qwen Token Plan (individual, China)", "", "qwen3.8-max"},
	{"together", "Together AI", "https://api.together.ai/settings/api-keys", "moonshotai/Kimi-K3.1-Pro"},
	{"vercel-ai-gateway", "Vercel AI Gateway", "https://vercel.com/d?to=%2F%5Bteam%5D%2F%7E%2Fai%2Fapi-keys", "anthropic/claude-opus-5.5"},
	{"xiaomi", "Xiaomi MiMo", "", "mimo-v2.6-pro"},
	{"xiaomi-token-plan-ams", "Xiaomi Token Plan (Amsterdam)", "", "mimo-v2.6-pro"},
	{"xiaomi-token-plan-cn", "Xiaomi Token Plan (China)", "", "mimo-v2.6-pro"},
	{"xiaomi-token-plan-sgp", "Xiaomi Token Plan (Singapore)", "", "mimo-v2.6-pro"},
	{"zai-coding-cn", "Z.ai Coding (China)", "", "glm-5.3"},
}

// serviceOf returns the service of a provider and its place in the list. The name of an unknown one is
// its id.
func serviceOf(id string) (s service, place int) {
	for i, s := range services {
		if s.id == id {
			return s, i
		}
	}
	return service{id: id, name: id}, len(services)
}

// localNames are the names of servers on this machine, by provider.
var localNames = map[string]string{"ollama": "Ollama", "lmstudio": "LM Studio", "llama.cpp": "llama.cpp", "vllm": "vLLM"}

// nameOf returns the name of a provider for users.
func nameOf(id string) string {
	if name, ok := localNames[id]; ok {
		return name
	}
	if id == offline.Model.Provider {
		return "Offline demo"
	}
	s, _ := serviceOf(id)
	return s.name
}
