package openai

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/provider/answer"
	"github.com/xcsh-ls/xcsh-ls/agent/provider/tier"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/guard"
)

// Azure is a provider of models whose API is [provider.AzureResponses]: Responses, at a resource of
// the customer's own, where a model has the name of its deployment.
type Azure struct {
	options guard.Options
	tiers   tier.Memory
	getenv  func(string) string
}

// NewAzure returns a client. It reads the variables that Microsoft's own clients and pi read:
//
//	AZURE_OPENAI_BASE_URL            address of the resource, with or without /openai/v1
//	AZURE_OPENAI_RESOURCE_NAME       its name, if there is no address
//	AZURE_OPENAI_API_VERSION         default: v1
//	AZURE_OPENAI_DEPLOYMENT_NAME_MAP MODEL=DEPLOYMENT,…; default: the model's id
func NewAzure(o guard.Options, getenv func(string) string) *Azure {
	return &Azure{options: o, getenv: getenv}
}

// Stream sends the request to the model.
func (c *Azure) Stream(ctx context.Context, req provider.Request) iter.Seq[provider.Event] {
	return guard.Stream(ctx, req, c.options, c.tiers.Begin(c.begin))
}

// Ambient is always false: the only credentials are keys.
func (c *Azure) Ambient(provider.Model) bool { return false }

var resourceName = regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9-]*$`)

// Address returns the address of the customer's resource. The environment takes precedence over m.
//
// Differs: pi sends the key to an address without encryption, too.
func (c *Azure) Address(m provider.Model) (string, error) {
	base := strings.TrimSpace(c.getenv("AZURE_OPENAI_BASE_URL"))
	if name := strings.TrimSpace(c.getenv("AZURE_OPENAI_RESOURCE_NAME")); base == "" && name != "" {
		if !resourceName.MatchString(name) {
			return "", fault.New(fault.Provider, "AZURE_OPENAI_RESOURCE_NAME is not the name of a resource: it may contain letters, digits and hyphens.")
		}
		base = "https://" + name + ".openai.azure.com"
	}
	if base == "" {
		base = m.BaseURL
	}
	if base == "" {
		return "", fault.New(fault.Provider, "Azure OpenAI has no common address. Set AZURE_OPENAI_BASE_URL or AZURE_OPENAI_RESOURCE_NAME.")
	}
	u, err := url.Parse(base)
	if err != nil || u.Host == "" || u.Scheme != "https" && (u.Scheme != "http" || !provider.OnThisMachine(u.Hostname())) {
		return "", fault.New(fault.Provider, "The address of Azure OpenAI must begin with https://.")
	}
	u.RawQuery, u.Fragment = "", ""
	u.Path = strings.TrimSuffix(strings.TrimRight(u.Path, "/"), "/responses")
	if azureHost(u.Hostname()) && (u.Path == "" || u.Path == "/openai") {
		u.Path = "/openai/v1"
	}
	return u.String(), nil
}

// azureHost reports whether a host is one of Microsoft's, whose API has a fixed path.
func azureHost(host string) bool {
	for _, suffix := range []string{".openai.azure.com", ".cognitiveservices.azure.com", ".ai.azure.com"} {
		if strings.HasSuffix(strings.ToLower(host), suffix) {
			return true
		}
	}
	return false
}

func (c *Azure) begin(req provider.Request, a *answer.Answer) (guard.Call, guard.Decoder, error) {
	base, err := c.Address(req.Model)
	if err != nil {
		return guard.Call{}, nil, err
	}
	out, decoder, err := beginResponses(req, a)
	if err != nil {
		return guard.Call{}, nil, err
	}
	if name := c.deployment(req.Model.ID); name != req.Model.ID {
		word, err := guard.Encode(name)
		if err != nil {
			return guard.Call{}, nil, err
		}
		if out.Body, err = merge(out.Body, map[string]jsontext.Value{"model": word}); err != nil {
			return guard.Call{}, nil, err
		}
	}
	version := c.getenv("AZURE_OPENAI_API_VERSION")
	if version == "" {
		version = "v1"
	}
	out.Header = http.Header{}
	if req.Key != "" {
		out.Header.Set("Api-Key", req.Key)
	}
	out.URL = base + "/responses?" + url.Values{"api-version": {version}}.Encode()
	return out, decoder, nil
}

// deployment returns the name under which the customer deployed the model.
func (c *Azure) deployment(id string) string {
	for entry := range strings.SplitSeq(c.getenv("AZURE_OPENAI_DEPLOYMENT_NAME_MAP"), ",") {
		model, name, _ := strings.Cut(entry, "=")
		if name = strings.TrimSpace(name); name != "" && strings.TrimSpace(model) == id {
			return name
		}
	}
	return id
}
