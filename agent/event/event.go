// Package event defines the events of a live session: the progress of its turns and changes of its
// settings. Clients receive them as JSON, as docs/protocol.md describes it.
package event

import (
	"bytes"
	"encoding/json"
)

// Event is one of the types of this package. No other package can add one, so that a type switch
// over them is complete.
type Event interface {
	// Type returns the "type" member of the event's JSON. The terminal programs use the same names.
	Type() string

	json.Marshaler
	sealed()
}

// encode returns the JSON of an event: its type, then the members of the struct. Whether
// characters of HTML are escaped is up to the encoder that calls MarshalJSON.
func encode(typ string, members any) ([]byte, error) {
	var b bytes.Buffer
	b.WriteString(`{"type":"` + typ + `"`)
	head := b.Len()
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(members); err != nil {
		return nil, err
	}
	raw := bytes.TrimSuffix(b.Bytes(), []byte("\n"))
	if len(raw) == head+len("{}") {
		return append(raw[:head], '}'), nil
	}
	raw[head] = ',' // instead of the opening brace of the members
	return raw, nil
}
