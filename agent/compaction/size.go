package compaction

import (
	"encoding/json"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
)

// Sizes has the sums of the estimates for the messages of a context that grows. Reading one does not
// depend on the number of messages. The zero value is that of no messages. It is not safe for concurrent
// use.
type Sizes struct {
	sums []sum // [i] is that of the messages up to i
}

// sum is what the estimates need to know of the beginning of a context.
type sum struct {
	bytes, images, tokens int

	summary float64 // when the first compaction was, in milliseconds since 1970
	summed  bool    // there is one
	counted int     // the newest count of a service that holds, 0 if there is none
	from    int     // the message after the answer with that count
}

// Cut leaves only the first n messages.
func (s *Sizes) Cut(n int) { s.sums = s.sums[:n] }

// Add adds a message.
func (s *Sizes) Add(m json.RawMessage) {
	next := s.at(len(s.sums))
	l := measure(m)
	next.bytes, next.images, next.tokens = next.bytes+l.bytes, next.images+l.images, next.tokens+l.tokens()
	at, _ := rawjson.Float(rawjson.Get(m, "timestamp"))
	switch role(m) {
	case "compactionSummary":
		if !next.summed {
			next.summary, next.summed = at, true
		}
		next.counted, next.from = 0, 0
	case "assistant":
		// Messages that a compaction kept are older than it, and their counts are of the conversation before it.
		if counted := answerTokens(m); counted > 0 && !(next.summed && next.summary > at) {
			next.counted, next.from = counted, len(s.sums)+1
		}
	}
	s.sums = append(s.sums, next)
}

// at returns the sum of the first n messages.
func (s *Sizes) at(n int) sum {
	if n == 0 {
		return sum{}
	}
	return s.sums[n-1]
}

// Tokens is [Tokens] of the messages.
func (s *Sizes) Tokens() (tokens int, fresh bool) {
	all := s.at(len(s.sums))
	return all.counted + all.tokens - s.at(all.from).tokens, all.counted > 0
}

// Request estimates the tokens of a request with the messages. It decides whether to compact before the
// request, the length of the answer and the budget for thinking. It starts from the count that the
// service reported with the last answer. The rest is guessed by its length in bytes, on the high side.
// fixed is the length of the system prompt and the tools, in bytes; it has no influence if there is a
// count, which includes them.
//
// [Sizes.Tokens] guesses as the originals do, for the numbers that files and users see.
func (s *Sizes) Request(fixed int) int {
	all := s.at(len(s.sums))
	before := s.at(all.from)
	bytes, images := all.bytes-before.bytes, all.images-before.images
	if all.counted == 0 {
		bytes += fixed
	}
	return all.counted + bytes/provider.BytesPerToken + images*provider.ImageTokens
}

// Room returns the length of the conversation that one question may have, in bytes: half of what
// fits beside the reserve, because the question also has the previous summary and its instructions,
// and because not every text has as few bytes per token as the estimate.
func (s Settings) Room(window int) int {
	return (window - s.For(window).reserve()) / 2 * provider.BytesPerToken
}
