package catalog

import (
	"context"
	"encoding/json"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/provider/keyfile"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session/intake"
)

// variables are the names under which keys are kept in the environment, by provider. Of
// any other provider it is its name in capitals with _API_KEY.
var variables = map[string][]string{
	"amazon-bedrock":        {"AWS_BEARER_TOKEN_BEDROCK"},
	"anthropic":             {"ANTHROPIC_API_KEY"},
	"azure":                 {"AZURE_OPENAI_API_KEY"},
	"google":                {"GEMINI_API_KEY", "GOOGLE_API_KEY"},
	"huggingface":           {"HF_TOKEN"},
	"kimi-coding":           {"KIMI_API_KEY"},
	"moonshotai":            {"MOONSHOT_API_KEY"},
	"moonshotai-cn":         {"MOONSHOT_API_KEY"},
	"opencode-go":           {"OPENCODE_API_KEY"},
	"vercel-ai-gateway":     {"AI_GATEWAY_API_KEY"},
	"google-vertex":         {"GOOGLE_CLOUD_API_KEY"},
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

// key returns the key for a model. One of this machine needs none. A key that the client keeps is asked for.
func (c *Catalog) key(ctx context.Context, m provider.Model, user userFile) (string, error) {
	if err := c.addressed(m); err != nil || m.API == provider.Scripted {
		return "", err
	}
	if c.kept(m.Provider) {
		if key, err := c.keptKey(ctx, m.Provider); key != "" || err != nil {
			return key, err
		}
	}
	key, _, err := c.keyHere(m, user)
	return key, err
}

// keyPlace returns the place of the key for a model, and the error of key, but does not ask the client.
func (c *Catalog) keyPlace(m provider.Model, user userFile) (provider.KeySource, error) {
	if err := c.addressed(m); err != nil || m.API == provider.Scripted {
		return provider.NoKey, err
	}
	if c.kept(m.Provider) {
		return provider.ClientKey, nil
	}
	_, place, err := c.keyHere(m, user)
	return place, err
}

// keptKey asks the client for a key. No error contains it.
func (c *Catalog) keptKey(ctx context.Context, name string) (string, error) {
	key, err := c.Kept.Key(ctx, name)
	why := "did not return"
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case err == nil && key == "":
		return "", nil
	case err == nil && keyfile.CheckKey(key) == nil:
		return key, nil
	case err == nil:
		why = "returned an invalid text as"
	}
	return "", fault.New(fault.Provider, "The editor %s the API key of %s. Try again, or enter the key again.", why, nameOf(name)).
		With("reason", provider.NeedsKey).With("provider", name).With("providerName", nameOf(name))
}

// kept reports whether the client keeps a key for a provider.
func (c *Catalog) kept(name string) bool { return c.Kept != nil && c.Kept.Has(name) }

// addressed returns an error for a model at an address of the customer's own that is not known.
func (c *Catalog) addressed(m provider.Model) error {
	if hosted, _ := c.Services[m.API].(provider.Hosted); hosted != nil {
		if _, err := hosted.Address(m); err != nil {
			return fault.New(fault.Provider, "%w", err).With("reason", provider.NeedsKey).
				With("provider", m.Provider).With("providerName", nameOf(m.Provider))
		}
	}
	return nil
}

// keyHere returns the key of this machine's files or environment, and its place.
func (c *Catalog) keyHere(m provider.Model, user userFile) (string, provider.KeySource, error) {
	for _, dir := range c.dirs() {
		if key, err := c.expand(c.stored(filepath.Join(dir, AuthFile), m.Provider), m, c.owned(dir)); key != "" || err != nil {
			return key, provider.AuthFileKey, err
		}
	}
	p := user.Providers[m.Provider]
	if key, err := c.expand(p.APIKey, m, p.owned); key != "" || err != nil {
		return key, provider.ModelsFileKey, err
	}
	for _, name := range variablesOf(m.Provider) {
		if key := c.Getenv(name); key != "" {
			return key, provider.EnvironmentKey, nil
		}
	}
	hosted, _ := c.Services[m.API].(provider.Hosted)
	if onThisMachine(m.BaseURL) || hosted != nil && hosted.Ambient(m) {
		return "", provider.NoKey, nil
	}
	return "", provider.NoKey, missingKey(m.Provider)
}

// address returns the base URL of the model: for one at an address of the customer's own, that of the
// environment.
func (c *Catalog) address(m provider.Model) string {
	if hosted, ok := c.Services[m.API].(provider.Hosted); ok {
		if base, err := hosted.Address(m); err == nil {
			return base
		}
	}
	return m.BaseURL
}

// dirs are the agent directories that may be used now.
func (c *Catalog) dirs() []string {
	if c.Usable == nil {
		return c.AgentDirs
	}
	return slices.DeleteFunc(slices.Clone(c.AgentDirs), func(dir string) bool { return !c.Usable(dir) })
}

func (c *Catalog) owned(dir string) bool { return c.Owned == nil || c.Owned(dir) }

// AuthFile is the name of the file with keys in an agent directory.
const AuthFile = "auth.json"

// maxFile bounds the files of an agent directory, in bytes.
const maxFile = 16 << 20

// stored is the key that an auth.json has for a provider, "" when it has none.
func (c *Catalog) stored(path, name string) string {
	key := c.storedKeys(path)[name]
	if key.Type != "api_key" {
		return ""
	}
	return key.Key
}

// storedKey is the entry of a provider in an auth.json.
type storedKey struct{ Type, Key string }

// storedKeys reads an auth.json. One that cannot be read has no keys.
func (c *Catalog) storedKeys(path string) map[string]storedKey {
	raw, err := intake.ReadAll(c.Fs, path, maxFile)
	if err != nil {
		return nil
	}
	var file map[string]storedKey
	if json.Unmarshal(raw, &file) != nil {
		return nil
	}
	return file
}

// expand resolves the key of a model as files have it: the key itself, or the name of a variable,
// with or without a dollar sign. owned reports whether the user chose the file's directory.
//
// Differs: xcsh, pi and omp send any variable that a file names. Here one that does not hold the
// key of a model is sent only if the user chose the directory. [Catalog.Report] is called for a key
// that leaves the machine without encryption.
func (c *Catalog) expand(value string, m provider.Model, owned bool) (string, error) {
	name := strings.Trim(strings.TrimPrefix(value, "$"), "{}")
	if name == value && isCommand(value) {
		return "", nil // a file must not be able to run programs in a language server
	}
	key := ""
	if name != "" {
		key = c.Getenv(name)
	}
	switch {
	case key == "" && name != value:
		return "", nil
	case key == "":
		return value, nil
	case !owned && !holdsModelKey(name):
		return "", fault.New(fault.Denied, "The variable %s is not sent to %s: its name does not look like an API key's, and the file that refers to it is in an agent directory from the settings. "+
			"Pass the agent directory with --agent-dir, or use a variable whose name ends in _API_KEY.", name, m.Provider).With("provider", m.Provider)
	}
	return key, nil
}

// holdsModelKey reports whether a variable of the environment is one for the keys of models.
func holdsModelKey(name string) bool {
	if strings.HasSuffix(name, "_API_KEY") {
		return true
	}
	for _, names := range variables {
		if slices.Contains(names, name) {
			return true
		}
	}
	return false
}

// reportPlain reports that the key of a model is sent without encryption to another machine.
func (c *Catalog) reportPlain(m provider.Model) {
	if c.Report == nil || !plainElsewhere(m.BaseURL) {
		return
	}
	if _, again := c.reported.LoadOrStore(m.BaseURL, true); !again {
		c.Report("The key for " + m.Provider + " is sent without encryption to " + address(m.BaseURL) + ". Use an https address if the service has one.")
	}
}

// plainElsewhere reports whether requests to an address leave this machine unencrypted.
func plainElsewhere(baseURL string) bool {
	return !strings.HasPrefix(strings.ToLower(baseURL), "https://") && !onThisMachine(baseURL)
}

// address is the scheme and host of an address, for messages: the rest may hold a key.
func address(baseURL string) string {
	u, err := url.Parse(baseURL)
	if err != nil {
		return "its address"
	}
	return u.Scheme + "://" + u.Host
}

// KeyVariables returns the names of the environment variables that the user's files name for keys.
// It reads the files at each call.
func (c *Catalog) KeyVariables() []string {
	var names []string
	note := func(value string) {
		name := strings.Trim(strings.TrimPrefix(value, "$"), "{}")
		if name != value || value != "" && c.Getenv(value) != "" {
			names = append(names, name)
		}
	}
	for _, dir := range c.dirs() {
		for _, key := range c.storedKeys(filepath.Join(dir, AuthFile)) {
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
	return provider.OnThisMachine(u.Hostname())
}
