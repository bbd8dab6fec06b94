package sessiontest

import (
	"fmt"
	"strings"
)

// Header is the header line of an xcsh session of cwd.
func Header(id, cwd string) string {
	return fmt.Sprintf(`{"type":"session","version":3,"id":%q,"timestamp":"2026-01-01T00:00:00.000Z","cwd":%q}`, id, cwd)
}

// User is the line of a user message; an empty parent is null.
func User(id, parent, text string) string {
	return entry(id, parent, fmt.Sprintf(`{"role":"user","content":%q,"timestamp":1}`, text))
}

// Assistant is the line of an answer.
func Assistant(id, parent, text string) string {
	return entry(id, parent, AssistantMessage(text))
}

// AssistantMessage is the message of an answer.
func AssistantMessage(text string) string {
	return fmt.Sprintf(`{"role":"assistant","content":[{"type":"text","text":%q}],"api":"scripted","provider":"offline","model":"demo",`+
		`"usage":{"input":1,"output":1,"cacheRead":0,"cacheWrite":0,"totalTokens":2,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}},`+
		`"stopReason":"stop","timestamp":2}`, text)
}

// UserMessage is the message of a prompt.
func UserMessage(text string) string {
	return fmt.Sprintf(`{"role":"user","content":%q,"timestamp":1}`, text)
}

func entry(id, parent, message string) string {
	p := "null"
	if parent != "" {
		p = fmt.Sprintf("%q", parent)
	}
	return fmt.Sprintf(`{"type":"message","id":%q,"parentId":%s,"timestamp":"2026-01-01T00:00:01.000Z","message":%s}`, id, p, message)
}

// File joins lines into a file's content, each ended by a newline.
func File(lines ...string) string { return strings.Join(lines, "\n") + "\n" }
