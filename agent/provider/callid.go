package provider

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strconv"
	"strings"
)

// callIDs converts the ids of tool calls to the form that a model's API wants. They depend only on
// the previous calls, so that a conversation that grows keeps its beginning, which services cache.
type callIDs struct {
	api     API
	longest int
	mistral bool
	used    map[string]bool
}

func newCallIDs(m Model) *callIDs {
	c := &callIDs{api: m.API, longest: 64, used: map[string]bool{}}
	if m.API == OpenAICompletions {
		c.longest = 40
		c.mistral = m.Provider == "mistral" || strings.Contains(m.BaseURL, "mistral.ai")
	}
	return c
}

var (
	notInID   = regexp.MustCompile(`[^a-zA-Z0-9_-]`)
	mistralID = regexp.MustCompile(`^[a-zA-Z0-9]{9}$`)
)

// next returns the id of the next call. One that the same model gave is kept.
func (c *callIDs) next(id string, same bool) string {
	out := id
	if !same || id == "" {
		// Responses has two ids in one: that of the call, and that of an item which only the
		// model that made it may see again.
		short := id
		if c.api != AnthropicMessages {
			short, _, _ = strings.Cut(id, "|")
		}
		if out = c.form(short); c.used[out] {
			out = c.form(id)
		}
	}
	for n := 2; c.used[out]; n++ {
		out = c.form(id + "_" + strconv.Itoa(n))
	}
	c.used[out] = true
	return out
}

func (c *callIDs) form(id string) string {
	clean := notInID.ReplaceAllString(id, "_")
	switch {
	case c.mistral && !mistralID.MatchString(clean):
		const mistralLength = 9
		return hash(id)[:mistralLength]
	case clean == "":
		return "call_" + strconv.Itoa(len(c.used)+1)
	case len(clean) > c.longest:
		const suffix = 9
		return clean[:c.longest-suffix] + "_" + hash(id)[:suffix-1]
	default:
		return clean
	}
}

func hash(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}
