// Package tier knows the service tiers: how fast, and at which price, a service answers. A session
// records them for each family of models, because each family has tiers of its own.
package tier

import (
	"encoding/json"
	"slices"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
)

// Family is a group of models whose services have the same tiers. Its value is the name in session
// files.
type Family string

// The families.
const (
	OpenAI    Family = "openai"
	Anthropic Family = "anthropic"
	Google    Family = "google"
)

// The tiers, with the names of session files.
const (
	Auto     = "auto"
	Default  = "default"
	Flex     = "flex"
	Scale    = "scale"
	Priority = "priority"
)

// Names are all tiers.
var Names = []string{Auto, Default, Flex, Scale, Priority}

// families is in the order in which entries are written.
var families = []Family{OpenAI, Anthropic, Google}

// Tiers are the tier of each family. A family without one is served as usual.
type Tiers map[Family]string

// Parse reads the value of a service_tier_change entry. omp writes an object with a member for each
// family; its older versions wrote one word for all families that have that tier. The word of xcsh
// concerns the models of OpenAI only. Unknown words and families are ignored.
func Parse(raw json.RawMessage, omp bool) Tiers {
	t := Tiers{}
	if rawjson.Kind(raw) == '{' {
		for _, f := range families {
			if word, ok := rawjson.GetString(raw, string(f)); ok && slices.Contains(Names, word) {
				t[f] = word
			}
		}
		return t
	}
	word, _ := rawjson.String(raw)
	switch {
	case word == "openai-only":
		t[OpenAI] = Priority
	case word == "claude-only":
		t[Anthropic] = Priority
	case !slices.Contains(Names, word):
	case omp && word == Priority:
		t[OpenAI], t[Anthropic], t[Google] = word, word, word
	default:
		t[OpenAI] = word
	}
	return t
}

// Entry returns the value of a service_tier_change entry. xcsh reads one word, for the models of OpenAI;
// it ignores an object.
func (t Tiers) Entry(omp bool) json.RawMessage {
	if len(t) == 0 {
		return json.RawMessage("null")
	}
	if word, ok := t[OpenAI]; ok && len(t) == 1 && !omp {
		return rawjson.Quote(word)
	}
	o := new(rawjson.Object)
	for _, f := range families {
		if word, ok := t[f]; ok {
			o.String(string(f), word)
		}
	}
	return o.Bytes()
}

// For returns the tier to request for a model, "" for none: its family has none, or its service does
// not offer that tier.
func (t Tiers) For(m provider.Model) string {
	f, ok := FamilyOf(m)
	if !ok || !slices.Contains(Offered(m), t[f]) || t[f] == Auto {
		return "" // auto is what services do without being asked
	}
	return t[f]
}
