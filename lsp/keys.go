package lsp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
)

// KeysChangedParams are the parameters of xcsh/keysChanged, which the client sends: it keeps keys for other
// providers than before.
type KeysChangedParams struct {
	Providers []string `json:"providers"` // all that it keeps a key for
}

// KeyParams are the parameters of xcsh/key: a request needs the API key of a provider.
type KeyParams struct {
	Provider string `json:"provider"`
}

// KeyResult is the answer to xcsh/key. The server uses the key for one request and does not keep it.
type KeyResult struct {
	Key *string `json:"key"` // null: the client has none
}

// ModelsChangedParams are the parameters of xcsh/modelsChanged: other models may be ready to use.
type ModelsChangedParams struct{}

// clientKeys are the keys that the client keeps. It knows the providers, never a key.
type clientKeys struct {
	s *server

	mu        sync.Mutex
	providers []string // guarded by mu
}

// maxKeyProviders bounds the list of providers of the client.
const maxKeyProviders = 1000

// set replaces the list of providers.
func (k *clientKeys) set(providers []string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.providers = slices.Clone(providers[:min(len(providers), maxKeyProviders)])
}

// Has reports whether the client keeps a key for a provider.
func (k *clientKeys) Has(provider string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Contains(k.providers, provider)
}

// Key asks the client for the key of a provider. It returns "" if the client has none. The key appears neither in
// the log nor in an error.
func (k *clientKeys) Key(ctx context.Context, name string) (string, error) {
	var raw json.RawMessage // an error about its type would contain a part of it
	if err := k.s.ask(ctx, MethodKey, KeyParams{Provider: name}, &raw); err != nil {
		return "", cmp.Or(ctx.Err(), err)
	}
	key := rawjson.Get(raw, "key")
	if kind := rawjson.Kind(raw); kind == 'n' || kind == '{' && (key == nil || rawjson.Kind(key) == 'n') {
		return "", nil
	}
	text, ok := rawjson.String(key)
	if !ok {
		return "", errNoKeyText
	}
	return text, nil
}

var errNoKeyText = errors.New("the editor returned no text")

// keysChanged handles xcsh/keysChanged.
func (s *server) keysChanged(p *KeysChangedParams) error {
	if s.keys == nil {
		return errNoKeys
	}
	s.keys.set(p.Providers)
	s.notify(MethodModelsChanged, ModelsChangedParams{}, MethodModelsChanged)
	return nil
}

var errNoKeys = fault.New(fault.InvalidArgument, "The client did not announce keyProviders.")

// readKeyProviders returns the providers that the client announces to keep keys for. ok is false if it keeps none
// at all.
func readKeyProviders(options json.RawMessage) (providers []string, ok bool) {
	raw := valueAt[json.RawMessage](options, "keyProviders")
	if len(raw) == 0 || string(raw) == "null" {
		return nil, false
	}
	return valueAt[[]string](raw), true
}
