package providertest

import (
	"encoding/json"
	"slices"
)

// checkStrict refuses the schema of a strict tool that the service cannot enforce. all reports that
// every member must be required.
func checkStrict(tool string, raw json.RawMessage, all bool) error {
	var s struct {
		Properties map[string]json.RawMessage `json:"properties"`
		Required   []string                   `json:"required"`
		Additional *bool                      `json:"additionalProperties"`
		Items      json.RawMessage            `json:"items"`
		Type       any                        `json:"type"`
		MinLength  *int                       `json:"minLength"`
	}
	if err := json.Unmarshal(raw, &s); err != nil {
		return invalid("Invalid schema for function '%s': %v", tool, err)
	}
	switch {
	case s.MinLength != nil:
		return invalid("Invalid schema for function '%s': 'minLength' is not permitted.", tool)
	case s.Type == "object" && (s.Additional == nil || *s.Additional):
		return invalid("Invalid schema for function '%s': 'additionalProperties' is required to be supplied and to be false.", tool)
	}
	for name, member := range s.Properties {
		if all && !slices.Contains(s.Required, name) {
			return invalid("Invalid schema for function '%s': 'required' must include every key in properties. Missing '%s'.", tool, name)
		}
		if err := checkStrict(tool, member, all); err != nil {
			return err
		}
	}
	if s.Items != nil {
		return checkStrict(tool, s.Items, all)
	}
	return nil
}
