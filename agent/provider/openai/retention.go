package openai

import (
	"encoding/json"
	"net/url"
	"strconv"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/provider/strict"
)

// retention asks OpenAI to cache the beginning of a conversation for longer. A model knows one of the
// two members and refuses the other.
type retention struct {
	PromptCacheRetention string        `json:"prompt_cache_retention,omitzero"` // "24h"
	PromptCacheOptions   *cacheOptions `json:"prompt_cache_options,omitzero"`
}

type cacheOptions struct {
	TTL string `json:"ttl"` // "30m" is the only value
}

// retain returns the retention that a request asks for. By default only OpenAI's own service is asked:
// others may refuse members that they do not know.
func retain(req provider.Request, c compat) (r retention) {
	supported := official(req.Model)
	if c.SupportsLongCacheRetention != nil {
		supported = *c.SupportsLongCacheRetention
	}
	switch {
	case !req.LongCache || req.OneOff || !supported || c.CacheControlFormat != "":
	case c.SupportsExplicitPromptCacheMode:
		r.PromptCacheOptions = &cacheOptions{"30m"}
	case c.SupportsLongCacheRetention != nil || keeps(req.Model.ID):
		r.PromptCacheRetention = "24h"
	}
	return r
}

// keeps reports whether OpenAI's model id keeps its cache for a day on request: GPT 4.1 and GPT 5 up
// to 5.5.
func keeps(id string) bool {
	version, ok := strings.CutPrefix(id, "gpt-")
	if !ok {
		return false
	}
	version, _, _ = strings.Cut(version, "-")
	n, err := strconv.ParseFloat(version, 64)
	return err == nil && n >= 4.1 && n < 5.6
}

// official reports whether the model runs at OpenAI's own service.
func official(m provider.Model) bool {
	u, err := url.Parse(m.BaseURL)
	return m.BaseURL == "" || err == nil && u.Hostname() == "api.openai.com"
}

// schema returns the schema of a tool, and whether the service has to enforce it. Whether a service
// can is in the catalogue.
func schema(req provider.Request, c compat, t provider.Tool) (parameters json.RawMessage, enforced bool) {
	if c.SupportsStrictMode && !req.LooseTools {
		if parameters, ok := strict.Schema(t.Parameters); ok {
			return parameters, true
		}
	}
	return t.Parameters, false
}
