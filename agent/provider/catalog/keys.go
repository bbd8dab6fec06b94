package catalog

import (
	"context"
	"net/url"
	"slices"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/provider/keyfile"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
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
	found, err := c.keyHere(ctx, m, user, true)
	return found.key, err
}

// keyPlace returns the place of the key for a model, and the error of key, but does not ask the client and runs no command.
func (c *Catalog) keyPlace(ctx context.Context, m provider.Model, user userFile) (provider.KeySource, error) {
	if err := c.addressed(m); err != nil || m.API == provider.Scripted {
		return provider.NoKey, err
	}
	if c.kept(m.Provider) {
		return provider.ClientKey, nil
	}
	found, err := c.keyHere(ctx, m, user, false)
	return found.place, err
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

// located is a key and its place.
type located struct {
	key   string // "" for the unknown key of a command, and if none is needed
	place provider.KeySource
}

// keyHere returns the key of this machine's files or environment. Commands that print keys are run only if run is set.
func (c *Catalog) keyHere(ctx context.Context, m provider.Model, user userFile, run bool) (located, error) {
	for entry := range c.entries(ctx, m.Provider, user) {
		key, found, err := c.expand(ctx, entry, m, run)
		if found || err != nil {
			return located{key, entry.place}, err
		}
	}
	hosted, _ := c.Services[m.API].(provider.Hosted)
	if user.Providers[m.Provider].Auth == noAuth || onThisMachine(m.BaseURL) || hosted != nil && hosted.Ambient(m) {
		return located{place: provider.NoKey}, nil
	}
	return located{place: provider.NoKey}, c.missingKey(ctx, m.Provider)
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

func onThisMachine(baseURL string) bool {
	u, err := url.Parse(baseURL)
	if err != nil {
		return false
	}
	return provider.OnThisMachine(u.Hostname())
}
