// Package bedrock speaks Converse, the API of Amazon Bedrock for the models of many makers.
package bedrock

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/provider/answer"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/guard"
)

// Client is a provider of models whose API is [provider.BedrockConverse].
type Client struct {
	options guard.Options
	getenv  func(string) string
	signer  signer
}

// New returns a client. Requests have a bearer token as their key, or are signed with the credentials
// that Amazon's own programs find on this machine. The client reads AWS_REGION, AWS_DEFAULT_REGION and
// AWS_ENDPOINT_URL_BEDROCK_RUNTIME.
func New(o guard.Options, getenv func(string) string) *Client {
	return &Client{options: o, getenv: getenv}
}

var (
	regionName = regexp.MustCompile(`^[a-z]{2}[a-z0-9-]+$`)
	standard   = regexp.MustCompile(`^bedrock-runtime(?:-fips)?\.([a-z0-9-]+)\.amazonaws\.com(\.cn)?$`)
	arn        = regexp.MustCompile(`^arn:aws(?:-[a-z-]+)?:bedrock:([a-z0-9-]+):`)
)

// Ambient reports whether the environment names credentials that requests can be signed with.
func (c *Client) Ambient(m provider.Model) bool {
	has := func(name string) bool { return c.getenv(name) != "" }
	found := has("AWS_PROFILE") || has("AWS_ACCESS_KEY_ID") && has("AWS_SECRET_ACCESS_KEY") || has("AWS_WEB_IDENTITY_TOKEN_FILE") ||
		has("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI") || has("AWS_CONTAINER_CREDENTIALS_FULL_URI")
	base, err := c.Address(m)
	return found && err == nil && c.trusted(base)
}

// Address returns the address of the region: that of the model's ARN or of the environment, else the
// region of m's address. An address of m that is not a region's own is kept.
func (c *Client) Address(m provider.Model) (string, error) {
	if own := c.getenv("AWS_ENDPOINT_URL_BEDROCK_RUNTIME"); own != "" {
		return own, nil
	}
	at := standard.FindStringSubmatch(hostname(m.BaseURL))
	if m.BaseURL != "" && at == nil {
		return m.BaseURL, nil
	}
	region := c.getenv("AWS_REGION")
	if region == "" {
		region = c.getenv("AWS_DEFAULT_REGION")
	}
	if in := arn.FindStringSubmatch(m.ID); in != nil {
		region = in[1]
	}
	if region == "" && at != nil {
		return m.BaseURL, nil
	}
	if region == "" {
		region = "us-east-1"
	}
	if !regionName.MatchString(region) {
		return "", fault.New(fault.Provider, "AWS_REGION is not the name of a region.")
	}
	return regional(region), nil
}

// byProfile reports whether the region is that of the user's profile, because nothing else names one.
func (c *Client) byProfile(m provider.Model, base string) bool {
	return c.getenv("AWS_PROFILE") != "" && c.getenv("AWS_REGION") == "" && c.getenv("AWS_DEFAULT_REGION") == "" &&
		standard.MatchString(hostname(base)) && !arn.MatchString(m.ID)
}

func regional(region string) string {
	suffix := ""
	if strings.HasPrefix(region, "cn-") {
		suffix = ".cn"
	}
	return "https://bedrock-runtime." + region + ".amazonaws.com" + suffix
}

// regionOf returns the region that requests to an address are signed for.
func (c *Client) regionOf(base string) string {
	if at := standard.FindStringSubmatch(hostname(base)); at != nil {
		return at[1]
	}
	for _, name := range []string{"AWS_REGION", "AWS_DEFAULT_REGION"} {
		if region := c.getenv(name); region != "" {
			return region
		}
	}
	return "us-east-1"
}

// trusted reports whether requests to an address may be signed. It can come from a file, and a signed
// request shows the conversation to its receiver.
//
// Differs: pi signs requests to any address.
func (c *Client) trusted(base string) bool {
	u, err := url.Parse(base)
	if err != nil {
		return false
	}
	host := strings.ToLower(u.Hostname())
	ours := base == c.getenv("AWS_ENDPOINT_URL_BEDROCK_RUNTIME")
	for _, suffix := range []string{".amazonaws.com", ".amazonaws.com.cn", ".api.aws"} {
		ours = ours || strings.HasSuffix(host, suffix)
	}
	return provider.OnThisMachine(host) || ours && u.Scheme == "https"
}

func hostname(base string) string {
	u, err := url.Parse(base)
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Hostname())
}

// Stream sends the request to the model.
func (c *Client) Stream(ctx context.Context, req provider.Request) iter.Seq[provider.Event] {
	return guard.Stream(ctx, req, c.options, func(req provider.Request, a *answer.Answer) (guard.Call, guard.Decoder, error) {
		return c.begin(ctx, req, a)
	})
}

func (c *Client) begin(ctx context.Context, req provider.Request, a *answer.Answer) (guard.Call, guard.Decoder, error) {
	base, err := c.Address(req.Model)
	if err != nil {
		return guard.Call{}, nil, err
	}
	if req.Key == "" && c.byProfile(req.Model, base) {
		cfg, err := c.signer.config(ctx)
		if err != nil {
			return guard.Call{}, nil, err
		}
		if regionName.MatchString(cfg.Region) {
			base = regional(cfg.Region)
		}
	}
	region := c.regionOf(base)
	body, err := guard.Encode(build(req, region))
	if err != nil {
		return guard.Call{}, nil, err
	}
	// The escapes are Amazon's, because they are signed. An id can come from a session file.
	call := guard.Call{
		URL:    strings.TrimRight(base, "/") + "/model/" + strings.ReplaceAll(url.QueryEscape(req.Model.ID), "+", "%20") + "/converse-stream",
		Header: http.Header{}, Body: body, Framing: framing,
	}
	if req.Key != "" {
		call.Header.Set("Authorization", "Bearer "+req.Key)
		return call, &decoder{answer: a}, nil
	}
	if !c.trusted(base) {
		return call, nil, &provider.Error{Class: provider.Auth, Message: "requests to another host than Amazon's are not signed: set AWS_BEARER_TOKEN_BEDROCK to use this address"}
	}
	return call, &decoder{answer: a}, c.signer.sign(ctx, &call, region, c.options)
}
