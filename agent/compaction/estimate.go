package compaction

import (
	"encoding/json"
	"slices"

	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
)

// imageUnits is the estimated size of an image, in characters.
const imageUnits = 4800

// Settings determine when a conversation is compacted and how much of it is kept. The zero value is
// the default.
type Settings struct {
	Disabled   bool // no automatic compaction
	Reserve    int  // tokens to keep free for the answer; 0 means 16384
	KeepRecent int  // tokens of the newest messages to keep unchanged; 0 means 20000

	// ReservePercent is the part of the window that is kept free at least, in percent.
	ReservePercent int

	// ThresholdTokens and ThresholdPercent are the length of a conversation, in tokens or percent of the window, from
	// which on it is compacted. The first one that is set counts; 0 means that the reserve decides.
	ThresholdTokens, ThresholdPercent int
}

func (s Settings) reserve() int {
	if s.Reserve > 0 {
		return s.Reserve
	}
	return 16384
}

func (s Settings) keepRecent() int {
	if s.KeepRecent > 0 {
		return s.KeepRecent
	}
	return 20000
}

// For returns the settings adjusted to a model's window, in tokens: neither the reserve nor the
// recent messages that are kept unchanged take more than a quarter of it.
//
// Differs: the originals use the same figures for every window. With 32k of them every turn is
// compacted again, and with 8k nothing ever can be.
func (s Settings) For(window int) Settings {
	reserve := max(s.reserve(), window*min(s.ReservePercent, 100)/100)
	s.Reserve, s.KeepRecent = min(reserve, window/4), min(s.keepRecent(), window/4)
	return s
}

// Due reports whether a context of that many tokens is too large for the window.
func (s Settings) Due(tokens, window int) bool {
	return !s.Disabled && tokens > s.threshold(window)
}

// threshold returns the tokens from which on a conversation is compacted. A threshold beyond the window would never be
// reached, and one below the messages that are kept would be reached by every turn.
func (s Settings) threshold(window int) int {
	s = s.For(window)
	most := window - s.reserve()
	switch {
	case s.ThresholdTokens > 0:
		return min(max(s.ThresholdTokens, s.keepRecent()*2), most)
	case s.ThresholdPercent > 0:
		return min(max(window*min(s.ThresholdPercent, 100)/100, s.keepRecent()*2), most)
	default:
		return most
	}
}

// Tokens estimates how many tokens the messages of a context take: the count that the service
// reported with the last answer, and an estimate for the messages after it. fresh is false if there
// is no such answer, or a compaction made its count meaningless; the whole number is then an
// estimate. It reads no more messages than it has to; for a context that grows, see [Sizes].
func Tokens(messages []json.RawMessage) (tokens int, fresh bool) {
	counted, rest := sinceCount(messages)
	for _, m := range rest {
		tokens += Estimate(m)
	}
	return counted + tokens, counted > 0
}

// sinceCount returns the newest count of a service that still holds, and the messages after it:
// 0 and all messages if there is none.
func sinceCount(messages []json.RawMessage) (counted int, rest []json.RawMessage) {
	for i, m := range slices.Backward(messages) {
		if role, _ := rawjson.GetString(m, "role"); role == "compactionSummary" {
			break
		}
		if counted := answerTokens(m); counted > 0 && !compactedBefore(messages[:i], m) {
			return counted, messages[i+1:]
		}
	}
	return 0, messages
}

// compactedBefore reports whether a compaction is newer than the answer: messages that it
// kept are older, and their counts are of the conversation before it.
func compactedBefore(before []json.RawMessage, answer json.RawMessage) bool {
	at, _ := rawjson.Float(rawjson.Get(answer, "timestamp"))
	for _, m := range before {
		if role, _ := rawjson.GetString(m, "role"); role == "compactionSummary" {
			then, _ := rawjson.Float(rawjson.Get(m, "timestamp"))
			return then > at
		}
	}
	return false
}

// answerTokens returns the service's token count of an answer, 0 if there is no usable one.
func answerTokens(m json.RawMessage) int {
	if role, _ := rawjson.GetString(m, "role"); role != "assistant" {
		return 0
	}
	if stop, _ := rawjson.GetString(m, "stopReason"); stop == "error" || stop == "aborted" {
		return 0
	}
	usage := rawjson.Get(m, "usage")
	if total, ok := rawjson.Float(rawjson.Get(usage, "totalTokens")); ok && total > 0 {
		return int(total)
	}
	sum := 0.0
	for _, part := range []string{"input", "output", "cacheRead", "cacheWrite"} {
		n, _ := rawjson.Float(rawjson.Get(usage, part))
		sum += n
	}
	return int(sum)
}

// Estimate guesses the tokens of one message: a quarter of its characters.
func Estimate(m json.RawMessage) int { return measure(m).tokens() }

// length is the length of a message's texts, and the number of its images.
type length struct {
	units  int // UTF-16
	bytes  int
	images int
}

func (l length) tokens() int { return (l.units + l.images*imageUnits + 3) / 4 }

func (l *length) text(s string) { l.units, l.bytes = l.units+rawjson.UTF16Len(s), l.bytes+len(s) }

func (l *length) member(object []byte, key string) {
	s, _ := rawjson.GetString(object, key)
	l.text(s)
}

func measure(m json.RawMessage) (l length) {
	switch role, _ := rawjson.GetString(m, "role"); role {
	case "bashExecution":
		l.member(m, "command")
		l.member(m, "output")
	case "pythonExecution":
		l.member(m, "code")
		l.member(m, "output")
	case "branchSummary":
		l.member(m, "summary")
	case "compactionSummary":
		l.member(m, "summary")
		// A service that made its own history of the conversation gets that in place of the summary.
		items := len(rawjson.Get(m, "providerPayload", "items"))
		l.units, l.bytes = max(l.units, items), max(l.bytes, items)
	default:
		l.content(rawjson.Get(m, "content"))
	}
	return l
}

func (l *length) content(content []byte) {
	if s, ok := rawjson.String(content); ok {
		l.text(s)
		return
	}
	rawjson.Elements(content, func(block []byte) bool {
		switch typ, _ := rawjson.GetString(block, "type"); typ {
		case "text":
			l.member(block, "text")
		case "thinking":
			l.member(block, "thinking")
		case "image":
			l.images++
		case "toolCall":
			l.member(block, "name")
			l.text(string(rawjson.Get(block, "arguments")))
		}
		return true
	})
}
