package gemini

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/provider/answer"
	"github.com/xcsh-ls/xcsh-ls/agent/provider/tier"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/guard"
)

// Vertex is a provider of models whose API is [provider.GoogleVertex]: generateContent at a project
// of Google Cloud, with an API key or with the credentials that Google's own programs use.
type Vertex struct {
	options guard.Options
	tiers   tier.Memory
	getenv  func(string) string
	tokens  tokens
}

// NewVertex returns a client. It reads the variables that Google's own clients and pi read:
//
//	GOOGLE_CLOUD_PROJECT or GCLOUD_PROJECT  project
//	GOOGLE_CLOUD_LOCATION                   region, or global
//	GOOGLE_APPLICATION_CREDENTIALS          credentials, if they are not at gcloud's place for them
func NewVertex(o guard.Options, getenv func(string) string) *Vertex {
	return &Vertex{options: o, getenv: getenv}
}

var (
	projectID = regexp.MustCompile(`^[a-z0-9][a-z0-9.:-]*$`) // with the domain of older projects
	region    = regexp.MustCompile(`^[a-z0-9][a-z0-9-]*$`)
)

// place returns the project and region of the environment.
func (v *Vertex) place() (project, location string, ok bool) {
	project, location = v.getenv("GOOGLE_CLOUD_PROJECT"), v.getenv("GOOGLE_CLOUD_LOCATION")
	if project == "" {
		project = v.getenv("GCLOUD_PROJECT")
	}
	return project, location, projectID.MatchString(project) && region.MatchString(location)
}

// Ambient reports whether the environment names a project and a region, which requests with
// credentials other than a key need.
func (v *Vertex) Ambient(m provider.Model) bool {
	_, _, ok := v.place()
	return ok && trusted(m.BaseURL)
}

// Address returns the address of the region, unless m has one that is not a pattern.
func (v *Vertex) Address(m provider.Model) (string, error) {
	const common = "https://aiplatform.googleapis.com"
	_, location, ok := v.place()
	switch {
	case m.BaseURL != "" && !strings.Contains(m.BaseURL, "{location}"):
		return m.BaseURL, nil
	case !ok || location == "global":
		return common, nil // where keys are good, too
	case location == "us" || location == "eu":
		return "https://aiplatform." + location + ".rep.googleapis.com", nil
	default:
		return "https://" + location + "-aiplatform.googleapis.com", nil
	}
}

// trusted reports whether tokens may be sent to an address. A token is good for the whole account,
// and an address can come from a file.
//
// Differs: pi sends them to any address.
func trusted(base string) bool {
	u, err := url.Parse(strings.ReplaceAll(base, "{location}", "global"))
	if err != nil {
		return false
	}
	host := strings.ToLower(u.Hostname())
	return provider.OnThisMachine(host) || base == "" || u.Scheme == "https" && strings.HasSuffix(host, ".googleapis.com")
}

// Stream sends the request to the model.
func (v *Vertex) Stream(ctx context.Context, req provider.Request) iter.Seq[provider.Event] {
	return func(yield func(provider.Event) bool) {
		keyed := strings.TrimSpace(req.Key) != ""
		var failure error
		if !keyed {
			req.Key, failure = v.token(ctx, req.Model) // errors don't show keys
		}
		guard.Stream(ctx, req, v.options, v.tiers.Begin(func(req provider.Request, a *answer.Answer) (guard.Call, guard.Decoder, error) {
			if failure != nil {
				return guard.Call{}, nil, failure
			}
			return v.begin(req, a, keyed)
		}))(yield)
	}
}

// token returns a token of the user's own credentials.
func (v *Vertex) token(ctx context.Context, m provider.Model) (string, error) {
	base, err := v.Address(m)
	if err != nil {
		return "", err
	}
	if _, _, ok := v.place(); !ok {
		return "", &provider.Error{Class: provider.Auth, Message: "Vertex AI has no key and no project: set GOOGLE_CLOUD_API_KEY, or GOOGLE_CLOUD_PROJECT and GOOGLE_CLOUD_LOCATION"}
	}
	if !trusted(base) {
		return "", &provider.Error{Class: provider.Auth, Message: "credentials of Google Cloud are not sent to another host: set GOOGLE_CLOUD_API_KEY to use this address"}
	}
	return v.tokens.get(ctx)
}

func (v *Vertex) begin(req provider.Request, a *answer.Answer, keyed bool) (guard.Call, guard.Decoder, error) {
	base, err := v.Address(req.Model)
	if err != nil {
		return guard.Call{}, nil, err
	}
	u, err := url.Parse(base)
	if err != nil || u.Host == "" {
		return guard.Call{}, nil, fault.New(fault.Provider, "The address of Vertex AI is not valid.")
	}
	base = strings.TrimRight(base, "/")
	if !versioned.MatchString(u.Path) {
		base += "/v1"
	}
	h := http.Header{}
	if req.Tier == tier.Priority {
		h.Set("X-Vertex-Ai-Llm-Shared-Request-Type", "priority")
	}
	if keyed {
		h.Set("X-Goog-Api-Key", req.Key)
	} else {
		h.Set("Authorization", "Bearer "+req.Key)
		project, location, _ := v.place()
		base += "/projects/" + project + "/locations/" + location
	}
	return call(req, a, base+"/publishers/google", h)
}

var versioned = regexp.MustCompile(`/v\d+(beta\d*)?(/|$)`)
