package catalog

import (
	"encoding/json"
	"net"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/session/fault"
)

// variables are the names under which keys are kept in the environment, by provider. Of
// any other provider it is its name in capitals with _API_KEY.
var variables = map[string][]string{
	"anthropic":             {"ANTHROPIC_API_KEY"},
	"azure":                 {"AZURE_OPENAI_API_KEY"},
	"google":                {"GEMINI_API_KEY", "GOOGLE_API_KEY"},
	"huggingface":           {"HF_TOKEN"},
	"kimi-coding":           {"KIMI_API_KEY"},
	"moonshotai":            {"MOONSHOT_API_KEY"},
	"moonshotai-cn":         {"MOONSHOT_API_KEY"},
	"opencode-go":           {"OPENCODE_API_KEY"},
	"vercel-ai-gateway":     {"AI_GATEWAY_API_KEY"},
	"github-copilot":        {"COPILOT_GITHUB_TOKEN"},
	"cloudflare-workers-ai": {"CLOUDFLARE_API_KEY"},
	"cloudflare-ai-gateway": {"CLOUDFLARE_API_KEY"},
}

func variablesOf(name string) []string {
	if v, ok := variables[name]; ok {
		return v
	}
	return []string{strings.ToUpper(strings.NewReplacer("-", "_", ".", "_").Replace(name)) + "_API_KEY"}
}

// key returns the key for a model. One of this machine needs none.
func (c *Catalog) key(m provider.Model, user userFile) (string, error) {
	if m.API == provider.Scripted {
		return "", nil
	}
	for _, dir := range c.AgentDirs {
		if key := c.expand(c.stored(filepath.Join(dir, "auth.json"), m.Provider)); key != "" {
			return key, nil
		}
	}
	if key := c.expand(user.Providers[m.Provider].APIKey); key != "" {
		return key, nil
	}
	names := variablesOf(m.Provider)
	for _, name := range names {
		if key := c.Getenv(name); key != "" {
			return key, nil
		}
	}
	if onThisMachine(m.BaseURL) {
		return "", nil
	}
	return "", fault.New(fault.Provider, "There is no API key for %s. Set %s, or put it into %s.",
		m.Provider, strings.Join(names, " or "), filepath.Join(c.AgentDirs[0], "auth.json")).
		With("provider", m.Provider)
}

// stored is the key that an auth.json has for a provider, "" when it has none.
func (c *Catalog) stored(path, name string) string {
	key := c.storedKeys(path)[name]
	if key.Type != "api_key" {
		return ""
	}
	return key.Key
}

// storedKey is what an auth.json has for a provider.
type storedKey struct{ Type, Key string }

// storedKeys reads an auth.json. One that cannot be read has no keys.
func (c *Catalog) storedKeys(path string) map[string]storedKey {
	raw, err := afero.ReadFile(c.Fs, path)
	if err != nil {
		return nil
	}
	var file map[string]storedKey
	if json.Unmarshal(raw, &file) != nil {
		return nil
	}
	return file
}

// expand resolves what files have for a key: the key itself, or the name of a variable,
// with or without a dollar sign.
func (c *Catalog) expand(value string) string {
	if name := strings.Trim(strings.TrimPrefix(value, "$"), "{}"); name != value {
		return c.Getenv(name)
	}
	if isCommand(value) {
		return "" // a file must not be able to run programs in a language server
	}
	if v := c.Getenv(value); value != "" && v != "" {
		return v
	}
	return value
}

// KeyVariables returns the names of the variables of the environment that the person's files
// name for keys. They are read anew each time.
func (c *Catalog) KeyVariables() []string {
	var names []string
	note := func(value string) {
		name := strings.Trim(strings.TrimPrefix(value, "$"), "{}")
		if name != value || value != "" && c.Getenv(value) != "" {
			names = append(names, name)
		}
	}
	for _, dir := range c.AgentDirs {
		for _, key := range c.storedKeys(filepath.Join(dir, "auth.json")) {
			note(key.Key)
		}
	}
	for _, p := range c.userFile().Providers {
		note(p.APIKey)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func onThisMachine(baseURL string) bool {
	u, err := url.Parse(baseURL)
	if err != nil {
		return false
	}
	host := u.Hostname()
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
