package tool

import (
	"os"
	"slices"
	"strings"
)

// secretVariables hold the keys of model services and of this program's other backends.
// Beside them, everything counts that has one of secretParts in its name.
var secretVariables = []string{
	"ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_OAUTH_TOKEN", "AWS_BEARER_TOKEN_BEDROCK", "AZURE_OPENAI_KEY", "CLAUDE_CODE_OAUTH_TOKEN",
	"COPILOT_GITHUB_TOKEN", "HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "OPENAI_TOKEN", "REPLICATE_API_TOKEN", "CLOUDFLARE_API_TOKEN",
}

// secretParts are anywhere in a name, because people number and rename their keys.
var secretParts = []string{"_API_KEY", "_APIKEY", "_API_SECRET"}

// quietEnv keeps programs from waiting for a person.
var quietEnv = []string{"GIT_TERMINAL_PROMPT=0", "PAGER=cat", "GIT_PAGER=cat", "TERM=dumb"}

// childEnv is this process's environment for commands: without the keys of model
// services, which a model could otherwise print into the conversation, except for those
// named in [Options.PassEnv].
func (o Options) childEnv() []string {
	var keys []string
	if o.KeyEnv != nil {
		keys = o.KeyEnv()
	}
	env := slices.DeleteFunc(os.Environ(), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		same := func(key string) bool { return strings.EqualFold(key, name) } // as on Windows
		return (isSecret(name) || slices.ContainsFunc(keys, same)) && !slices.Contains(o.PassEnv, name)
	})
	return append(env, quietEnv...)
}

func isSecret(name string) bool {
	upper := strings.ToUpper(name)
	return slices.Contains(secretVariables, upper) ||
		slices.ContainsFunc(secretParts, func(s string) bool { return strings.Contains(upper, s) })
}
