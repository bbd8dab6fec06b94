package main

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/agent/loop"
)

// eventShape is one type of xcsh/event and the members that come with it; a member with
// "?" may be missing.
type eventShape struct{ name, members string }

// eventShapes are all types, in the order of the table in docs/protocol.md, which a test
// compares with this one.
var eventShapes = []eventShape{
	{loop.AgentStart, ""},
	{loop.AgentEnd, "stopReason errorMessage? unanswered?"},
	{loop.TurnStart, ""},
	{loop.TurnEnd, "message? toolResults?"},
	{loop.MessageStart, "message entryId?"},
	{loop.MessageEnd, "message entryId?"},
	{loop.MessageDelta, "assistantMessageEvent"},
	{loop.ToolStart, "toolCallId toolName args?"},
	{loop.ToolUpdate, "toolCallId toolName args? partialResult?"},
	{loop.ToolEnd, "toolCallId toolName args? result? isError?"},
	{"approvals_changed", "approvals"},
	{"approval_mode_changed", "mode"},
	{loop.QueueChanged, "steering? followUp?"},
	{"model_changed", "model? role?"},
	{"thinking_level_changed", "thinkingLevel"},
	{loop.RetryStart, "attempt? maxAttempts? delayMs? reason? errorMessage?"},
	{loop.RetryEnd, "attempt? success? errorMessage?"},
	{"auto_compaction_start", "compactionReason?"},
	{"auto_compaction_end", "compactionReason? result? aborted? errorMessage? willRetry?"},
	{"bash_execution_update", "text?"},
	{"bash_execution_end", "message entryId?"},
	{loop.NotSaved, "errorMessage?"},
	{"notice", "text"},
	{"error", "text? kind? errorMessage"},
}

// events writes one interface per type of event and their union, which the type member
// tells apart.
func (w *wire) events(b *strings.Builder) error {
	of := reflect.TypeFor[loop.Event]()
	s, err := w.schema(of)
	if err != nil {
		return err
	}
	var names []string
	for _, shape := range eventShapes {
		name := eventName(shape.name)
		names = append(names, name)
		fmt.Fprintf(b, "\nexport interface %s {\n  type: %s;\n", name, singleQuoted(shape.name))
		for member := range strings.FieldsSeq(shape.members) {
			key := strings.TrimSuffix(member, "?")
			p := s.Properties[key]
			if p == nil {
				return fmt.Errorf("an event has no member %q", key)
			}
			// A member of an event that is there is never null.
			p = p.CloneSchemas()
			if p.Ref != "" || len(p.Types) > 1 {
				p.Types = slices.DeleteFunc(slices.Clone(p.Types), func(t string) bool { return t == "null" })
			}
			fmt.Fprintf(b, "  %s: %s;\n", member, w.member(of, key, p, true))
		}
		b.WriteString("}\n")
	}
	b.WriteString("\n/** What happened in a session. A client ignores types that it does not know. */\nexport type SessionEvent =\n  | " +
		strings.Join(names, "\n  | ") + ";\n")
	return nil
}

// eventName is the interface of a type of event: AgentStartEvent for agent_start.
func eventName(name string) string {
	var b strings.Builder
	for word := range strings.SplitSeq(name, "_") {
		b.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return b.String() + "Event"
}
