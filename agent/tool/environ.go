package tool

import (
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/agent/environ"
)

// secretVariables hold the keys of model services and of this program's other backends.
// Beside them, everything counts that has one of secretParts in its name.
var secretVariables = []string{
	"ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_OAUTH_TOKEN", "AWS_BEARER_TOKEN_BEDROCK", "AZURE_OPENAI_KEY", "CLAUDE_CODE_OAUTH_TOKEN",
	"COPILOT_GITHUB_TOKEN", "HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "OPENAI_TOKEN", "REPLICATE_API_TOKEN", "CLOUDFLARE_API_TOKEN",
}

// secretParts are anywhere in a name, because people number and rename their keys.
var secretParts = []string{"_API_KEY", "_APIKEY", "_API_SECRET"}

// quietEnv prevents programs from waiting for a user.
var quietEnv = []string{"GIT_TERMINAL_PROMPT=0", "PAGER=cat", "GIT_PAGER=cat", "TERM=dumb"}

// modelEnv is the environment of a model's commands: the variables that tools need, and those that
// the user passes by rule in extra. Messages are in English: the model reads them, and so does the
// code that detects accesses blocked by a sandbox.
func modelEnv(environment []string, extra ...string) []string {
	env := environ.Keep(environment, extra...)
	if runtime.GOOS != "windows" {
		for i, v := range env {
			if all, ok := strings.CutPrefix(v, "LC_ALL="); ok {
				env[i] = "LANG=" + all // LC_ALL would win over LC_MESSAGES
			}
		}
		env = append(env, "LC_MESSAGES=C.UTF-8")
	}
	return append(env, quietEnv...)
}

// userEnv is the environment of the user's own commands: all of it but for the keys of model
// services, which would become part of the conversation with the output of env.
func (o Options) userEnv() []string {
	var keys []string
	if o.KeyEnv != nil {
		keys = o.KeyEnv()
	}
	env := slices.DeleteFunc(os.Environ(), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		same := func(key string) bool { return strings.EqualFold(key, name) } // as on Windows
		return isSecret(name) || slices.ContainsFunc(keys, same)
	})
	return append(env, quietEnv...)
}

func isSecret(name string) bool {
	upper := strings.ToUpper(name)
	return slices.Contains(secretVariables, upper) ||
		slices.ContainsFunc(secretParts, func(s string) bool { return strings.Contains(upper, s) })
}
