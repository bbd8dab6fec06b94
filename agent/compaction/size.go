package compaction

import (
	"encoding/json"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
)

// Size estimates the tokens of a request with the messages of a context. It decides whether to
// compact before the request, the length of the answer and the budget for thinking. It starts from
// the count that the service reported with the last answer. The rest is guessed by its length in
// bytes, on the high side. fixed returns the length of the system prompt and the tools, in bytes;
// it is called only if there is no count, which includes them.
//
// [Tokens] guesses as the originals do, for the numbers that files and users see.
func Size(messages []json.RawMessage, fixed func() int) int {
	counted, rest := sinceCount(messages)
	bytes, images := 0, 0
	if counted == 0 {
		bytes = fixed()
	}
	for _, m := range rest {
		n, i := measure(m, byteLen)
		bytes, images = bytes+n, images+i
	}
	return counted + bytes/provider.BytesPerToken + images*provider.ImageTokens
}

// Room returns the length of the conversation that one question may have, in bytes: half of what
// fits beside the reserve, because the question also has the previous summary and its instructions,
// and because not every text has as few bytes per token as the estimate.
func (s Settings) Room(window int) int {
	return (window - s.For(window).reserve()) / 2 * provider.BytesPerToken
}

func byteLen(s string) int { return len(s) }
