package provider

import "slices"

// bytesPerToken is how much text a token is at least, so that estimates err on the high
// side.
const bytesPerToken = 3

// imageTokens is what an image costs, about.
const imageTokens = 1500

// Limit is how long the answer may be, in tokens: what was asked for, else what the model
// can, but no more than the context window has room for. Services refuse requests whose
// conversation and longest answer together do not fit.
func (r Request) Limit() int {
	const least, reserve = 1024, 1024
	want := r.Model.AnswerLimit()
	if r.MaxTokens > 0 {
		want = min(want, r.MaxTokens)
	}
	room := r.Model.Window() - r.tokens() - reserve
	return min(want, max(room, least))
}

// tokens estimates the size of the request. The last answer says what everything up to it
// took; the rest is counted by its length.
func (r Request) tokens() int {
	n, from := 0, 0
	for i, m := range slices.Backward(r.Messages) {
		failed := m.StopReason == StopError || m.StopReason == StopAborted
		if u := m.Usage; m.Role == RoleAssistant && u != nil && !failed {
			if n = u.Input + u.Output + u.CacheRead + u.CacheWrite; n > 0 {
				from = i + 1
				break
			}
		}
	}
	size := 0
	if from == 0 {
		size = len(r.System)
		for _, t := range r.Tools {
			size += len(t.Name) + len(t.Description) + len(t.Parameters)
		}
	}
	for _, m := range r.Messages[from:] {
		for _, b := range m.Content {
			size += len(b.Text) + len(b.Thinking) + len(b.Arguments)
			if b.Type == TypeImage {
				n += imageTokens
			}
		}
	}
	return n + size/bytesPerToken
}
