package agentbase

import (
	"fmt"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
)

// Summary is the text that agent-base shows to the user when it resumes the session, in
// its layout. The first topic always ends with three dots, as in the original.
func (m *Metadata) Summary() string {
	var b strings.Builder
	b.WriteString("You are resuming a previous conversation session.\n")
	fmt.Fprintf(&b, "Session: %s\n", m.Name)
	fmt.Fprintf(&b, "Created: %s\n", formatTime(m.Created))
	fmt.Fprintf(&b, "Last activity: %s\n", formatTime(m.LastActivity))
	fmt.Fprintf(&b, "Total messages: %d (%d from user, %d from assistant)\n", m.Messages, m.User, m.Assistant)
	if m.Description != "" {
		fmt.Fprintf(&b, "Description: %s\n", m.Description)
	}
	if m.HasFirst {
		fmt.Fprintf(&b, "First topic: %s...\n", rawjson.UTF16Prefix(m.First, topicLength))
	}
	b.WriteString("\nThe conversation history follows. Continue naturally from where you left off.")
	return b.String()
}
