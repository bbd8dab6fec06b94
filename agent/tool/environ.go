package tool

import (
	"os"
	"slices"
	"strings"
)

// secretVariables hold the keys of model services and of this program's other backends.
// Beside them, everything counts that ends in one of secretSuffixes.
var secretVariables = []string{
	"ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_OAUTH_TOKEN", "AWS_BEARER_TOKEN_BEDROCK", "AZURE_OPENAI_KEY", "CLAUDE_CODE_OAUTH_TOKEN",
	"COPILOT_GITHUB_TOKEN", "HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "OPENAI_TOKEN", "REPLICATE_API_TOKEN", "CLOUDFLARE_API_TOKEN",
}

var secretSuffixes = []string{"_API_KEY", "_APIKEY", "_API_SECRET"}

// quietEnv keeps programs from waiting for a person.
var quietEnv = []string{"GIT_TERMINAL_PROMPT=0", "PAGER=cat", "GIT_PAGER=cat", "TERM=dumb"}

// childEnv is this process's environment for commands: without the keys of model
// services, which a model could otherwise print into the conversation, except for those
// named in pass.
func childEnv(pass []string) []string {
	env := slices.DeleteFunc(os.Environ(), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return isSecret(name) && !slices.Contains(pass, name)
	})
	return append(env, quietEnv...)
}

func isSecret(name string) bool {
	upper := strings.ToUpper(name)
	return slices.Contains(secretVariables, upper) ||
		slices.ContainsFunc(secretSuffixes, func(s string) bool { return strings.HasSuffix(upper, s) })
}
