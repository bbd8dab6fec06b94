package tier

import (
	"strings"
	"sync"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/provider/answer"
	"github.com/xcsh-ls/xcsh-ls/internal/guard"
)

// Memory remembers the models whose service refused a tier. The zero value is ready to use, and it is
// safe for concurrent use.
type Memory struct {
	refused sync.Map // of address, id and tier
}

// Begin wraps begin: a request that is refused because of its tier is sent again without, and so are the
// later ones with that tier to that model.
func (m *Memory) Begin(begin guard.Begin) guard.Begin {
	return func(req provider.Request, a *answer.Answer) (guard.Call, guard.Decoder, error) {
		type refusal struct{ address, id, tier string }
		key := refusal{req.Model.BaseURL, req.Model.ID, req.Tier}
		if _, known := m.refused.Load(key); known {
			req.Tier = ""
		}
		call, decoder, err := begin(req, a)
		if err != nil || req.Tier == "" {
			return call, decoder, err
		}
		other := call.Instead
		call.Instead = func(cause *provider.Error) (guard.Call, bool) {
			if !aboutTier(cause) {
				if other == nil {
					return guard.Call{}, false
				}
				return other(cause)
			}
			req.Tier = ""
			plain, _, err := begin(req, a)
			if err != nil {
				return guard.Call{}, false
			}
			m.refused.Store(key, true)
			a.Note = "The service refused the service tier " + key.tier + " for " + key.id + ". Requests are sent without it until the server is restarted."
			return plain, true
		}
		return call, decoder, nil
	}
}

// aboutTier reports whether a request failed because of its tier: the service does not know the member,
// or does not offer the tier for this model or account.
func aboutTier(cause *provider.Error) bool {
	if cause.Class != provider.InvalidRequest {
		return false
	}
	message := strings.ToLower(cause.Message)
	for _, word := range []string{"service_tier", "service tier", "servicetier", "fast mode", "fast-mode", "speed"} {
		if strings.Contains(message, word) {
			return true
		}
	}
	return false
}
