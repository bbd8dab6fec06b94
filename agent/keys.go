package agent

import (
	"context"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// Keys stores API keys. It is safe for concurrent use. No error contains a key.
type Keys interface {
	// Path returns the file that has the keys.
	Path() string
	// Set stores the key of a provider. It returns a Denied error for a provider with a login.
	Set(ctx context.Context, provider, key string) error
	// Remove removes the key of a provider. It returns a NotFound error if there is none.
	Remove(ctx context.Context, provider string) error
}

// Sources returns the places that models come from, those that are ready first.
func (m *Manager) Sources(ctx context.Context) []provider.Source {
	if m.cfg.Models == nil {
		return nil
	}
	return m.cfg.Models.Sources(ctx)
}

// KeyFile returns the file that [Manager.SetKey] changes, "" if there is none.
func (m *Manager) KeyFile() string {
	if m.cfg.Keys == nil {
		return ""
	}
	return m.cfg.Keys.Path()
}

// SetKey stores the API key of a provider. The errors are those of [Keys].
func (m *Manager) SetKey(ctx context.Context, provider, key string) error {
	return m.changeKeys(func(k Keys) error { return k.Set(ctx, provider, key) })
}

// RemoveKey removes the stored API key of a provider. The errors are those of [Keys].
func (m *Manager) RemoveKey(ctx context.Context, provider string) error {
	return m.changeKeys(func(k Keys) error { return k.Remove(ctx, provider) })
}

func (m *Manager) changeKeys(change func(Keys) error) error {
	if m.cfg.Keys == nil {
		return fault.New(fault.Denied, "API keys cannot be stored here.")
	}
	err := change(m.cfg.Keys)
	if err == nil {
		m.ModelsChanged()
	}
	return err
}

// ModelsChanged reports that other models may be ready to use.
func (m *Manager) ModelsChanged() { m.publish(ModelsChanged{}) }

// soleModel returns the model to use if none is chosen and only one provider is ready, and a notice about that
// for the user. The offline demo does not count.
func (m *Manager) soleModel(ctx context.Context) (ref provider.Ref, notice string, ok bool) {
	var sole *provider.Source
	for _, s := range m.Sources(ctx) {
		if !s.Ready || s.Kind == provider.DemoSource {
			continue
		}
		if sole != nil {
			return provider.Ref{}, "", false
		}
		sole = &s
	}
	if sole == nil {
		return provider.Ref{}, "", false
	}
	ref, ok = provider.ParseRef(sole.Default)
	notice = "Using " + sole.Default + ". " + sole.Name + " is the only provider that is ready to use."
	if sole.Models == 1 {
		notice = "Using " + sole.Default + ", the only model that is ready to use."
	}
	return ref, notice, ok
}
