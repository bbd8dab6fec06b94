package compaction

import (
	"encoding/json"
	"slices"

	"github.com/xcsh-ls/xcsh-ls/session/rawjson"
)

// imageUnits is what an image counts for, in characters.
const imageUnits = 4800

// Settings say when a conversation is compacted and how much of it is kept. The zero
// value is the default.
type Settings struct {
	Disabled   bool // never by itself
	Reserve    int  // tokens to keep free for the answer; 0 means 16384
	KeepRecent int  // tokens of the newest messages to keep as they are; 0 means 20000
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

// For returns the settings as they are for a model's window, in tokens: neither what is kept
// free nor what is kept as it is takes more than a quarter of it.
//
// Differs: the originals use the same figures for every window. With 32k of them every turn
// is compacted anew, and with 8k nothing ever can be.
func (s Settings) For(window int) Settings {
	s.Reserve, s.KeepRecent = min(s.reserve(), window/4), min(s.keepRecent(), window/4)
	return s
}

// Due reports whether a context of that many tokens is too large for the window.
func (s Settings) Due(tokens, window int) bool {
	return !s.Disabled && tokens > window-s.For(window).reserve()
}

// Tokens estimates how many tokens the messages of a context take: what the service said
// of the last answer, and a guess for what came after it. fresh is false when there is no
// such answer, or a compaction made its count meaningless; then all of it is a guess.
func Tokens(messages []json.RawMessage) (tokens int, fresh bool) {
	for i, m := range slices.Backward(messages) {
		if role, _ := rawjson.GetString(m, "role"); role == "compactionSummary" {
			break
		}
		if counted := answerTokens(m); counted > 0 && !compactedBefore(messages[:i], m) {
			return counted + estimateAll(messages[i+1:]), true
		}
	}
	return estimateAll(messages), false
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

// answerTokens is what the service counted for an answer, 0 when it says nothing of use.
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

func estimateAll(messages []json.RawMessage) int {
	sum := 0
	for _, m := range messages {
		sum += Estimate(m)
	}
	return sum
}

// Estimate guesses the tokens of one message: a quarter of its characters.
func Estimate(m json.RawMessage) int {
	units := 0
	count := func(key string) {
		s, _ := rawjson.GetString(m, key)
		units += rawjson.UTF16Len(s)
	}
	switch role, _ := rawjson.GetString(m, "role"); role {
	case "bashExecution":
		count("command")
		count("output")
	case "pythonExecution":
		count("code")
		count("output")
	case "branchSummary", "compactionSummary":
		count("summary")
	default:
		units = contentUnits(rawjson.Get(m, "content"))
	}
	return (units + 3) / 4
}

func contentUnits(content []byte) int {
	if s, ok := rawjson.String(content); ok {
		return rawjson.UTF16Len(s)
	}
	units := 0
	rawjson.Elements(content, func(block []byte) bool {
		length := func(key string) {
			s, _ := rawjson.GetString(block, key)
			units += rawjson.UTF16Len(s)
		}
		switch typ, _ := rawjson.GetString(block, "type"); typ {
		case "text":
			length("text")
		case "thinking":
			length("thinking")
		case "image":
			units += imageUnits
		case "toolCall":
			length("name")
			units += rawjson.UTF16Len(string(rawjson.Get(block, "arguments")))
		}
		return true
	})
	return units
}
