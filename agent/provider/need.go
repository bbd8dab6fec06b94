package provider

import (
	"errors"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// Need is the reason why no model can answer a prompt. It is the member "reason" of the data of a
// Provider error.
type Need string

// The reasons.
const (
	NeedsModel      Need = "noModel"      // no model is chosen
	NeedsKey        Need = "noKey"        // there is no key for the provider of the model
	NeedsOtherModel Need = "unknownModel" // the chosen model does not exist
)

// NeedOf returns the reason of an error, "" for any other error.
func NeedOf(err error) Need {
	f, ok := errors.AsType[*fault.Error](err)
	if !ok || f.Kind != fault.Provider {
		return ""
	}
	reason, _ := f.Data["reason"].(Need)
	return reason
}

// MissingKey returns the error for a provider without a key.
func MissingKey(s Source) error {
	f := fault.New(fault.Provider, "%s needs an API key.", s.Name).With("reason", NeedsKey).With("provider", s.ID).With("providerName", s.Name)
	if s.Variable != "" {
		f = f.With("variable", s.Variable)
	}
	return f
}
