package provider

// BytesPerToken is a low estimate of how much text a token is, so that sizes err on the high side.
const BytesPerToken = 3

// ImageTokens is the approximate size of an image.
const ImageTokens = 1500

// Limit returns the maximum length of the answer, in tokens: the requested one, else that of the
// model, but no more than fits in the context window. Services refuse requests whose conversation
// and longest answer together do not fit.
func (r Request) Limit() int {
	const least, reserve = 1024, 1024
	want := r.Model.AnswerLimit()
	if r.MaxTokens > 0 {
		want = min(want, r.MaxTokens)
	}
	room := r.Model.Window() - r.tokens() - reserve
	return min(want, max(room, least))
}

// tokens returns the size of the request: Size, or an estimate by its length. The usage of its
// answers is of no use here, because messages do not show whether the conversation was compacted
// since.
func (r Request) tokens() int {
	if r.Size > 0 {
		return r.Size
	}
	n, size := 0, FixedLen(r.System, r.Tools)
	for _, m := range r.Messages {
		if m.History != nil {
			size += len(m.History.Items)
		}
		for _, b := range m.Content {
			size += len(b.Text) + len(b.Thinking) + len(b.Arguments)
			if b.Type == TypeImage {
				n += ImageTokens
			}
		}
	}
	return n + size/BytesPerToken
}

// FixedLen returns the length of the part of a request that does not change from turn to turn, in
// bytes.
func FixedLen(system string, tools []Tool) int {
	n := len(system)
	for _, t := range tools {
		n += len(t.Name) + len(t.Description) + len(t.Parameters)
	}
	return n
}
