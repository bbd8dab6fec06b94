package provider

import "encoding/json"

// History is the beginning of a conversation in the form to which a service compacted it. A
// part of it is encrypted, so that only that service can read it; others get a summary in words.
// It comes from a file and can hold anything.
type History struct {
	Provider string
	API      API
	Items    json.RawMessage // an array, in the form of the API
}

// readBy reports whether m's service made the history.
func (h *History) readBy(m Model) bool { return h.Provider == m.Provider && h.API == m.API }
