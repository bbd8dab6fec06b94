package strict

import (
	"bytes"
	"errors"
	"strings"
	"sync"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/provider/answer"
	"github.com/xcsh-ls/xcsh-ls/internal/guard"
)

var errNoObject = errors.New("properties are not an object")

// Memory remembers the models whose service refused strict schemas. The zero value is ready to use,
// and it is safe for concurrent use.
type Memory struct {
	refused sync.Map // of address and id
}

// Begin wraps begin: a request that is refused because of its schemas is sent again with LooseTools,
// and so are the later ones to that model.
func (m *Memory) Begin(begin guard.Begin) guard.Begin {
	return func(req provider.Request, a *answer.Answer) (guard.Call, guard.Decoder, error) {
		type model struct{ address, id string }
		key := model{req.Model.BaseURL, req.Model.ID}
		if _, known := m.refused.Load(key); known {
			req.LooseTools = true
		}
		call, decoder, err := begin(req, a)
		if err != nil || req.LooseTools {
			return call, decoder, err
		}
		call.Instead = func(cause *provider.Error) (guard.Call, bool) {
			if !aboutSchemas(cause) {
				return guard.Call{}, false
			}
			req.LooseTools = true
			loose, _, err := begin(req, a)
			if err != nil || bytes.Equal(loose.Body, call.Body) {
				return guard.Call{}, false
			}
			m.refused.Store(key, true)
			return loose, true
		}
		return call, decoder, nil
	}
}

// aboutSchemas reports whether a request failed because of the strict form of its tools: the service
// does not know it, cannot enforce one of the schemas, or has too many of them.
func aboutSchemas(cause *provider.Error) bool {
	if cause.Class != provider.InvalidRequest {
		return false
	}
	message := strings.ToLower(cause.Message)
	for _, word := range []string{"strict", "grammar", "schema", "additionalproperties"} {
		if strings.Contains(message, word) {
			return true
		}
	}
	return false
}
