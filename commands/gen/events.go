package main

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/xcsh-ls/xcsh-ls/agent/event"
)

// eventShape is one type of xcsh/event and its members. A member with "?" is optional.
type eventShape struct {
	of      event.Event
	members string
}

// schemas returns the schemas of the members in output order.
func (s eventShape) schemas(w *wire) (members []eventMember, err error) {
	of, err := w.schema(reflect.TypeOf(s.of))
	if err != nil {
		return nil, err
	}
	for member := range strings.FieldsSeq(s.members) {
		key := strings.TrimSuffix(member, "?")
		p := of.Properties[key]
		if p == nil {
			return nil, fmt.Errorf("an event of type %s has no member %q", s.of.Type(), key)
		}
		members = append(members, eventMember{key: key, optional: key != member, schema: p})
	}
	if len(members) != len(of.Properties) {
		return nil, fmt.Errorf("an event of type %s has %d members, %d are listed", s.of.Type(), len(of.Properties), len(members))
	}
	return members, nil
}

// eventMember is one member of an event.
type eventMember struct {
	key      string
	optional bool
	schema   *jsonschema.Schema
}

// eventShapes are the shapes of all events, in the order of the table in docs/protocol.md. A test
// compares the two.
var eventShapes = []eventShape{
	{event.AgentStart{}, ""},
	{event.AgentEnd{}, "stopReason errorMessage? unanswered? entryId? actions? changes?"},
	{event.TurnStart{}, ""},
	{event.TurnEnd{}, "message? toolResults?"},
	{event.MessageStart{}, "message typed?"},
	{event.MessageEnd{}, "message typed? entryId?"},
	{event.MessageUpdate{}, "assistantMessageEvent"},
	{event.ToolStart{}, "toolCallId toolName args? parentToolCallId?"},
	{event.ToolUpdate{}, "toolCallId toolName partialResult? parentToolCallId?"},
	{event.ToolEnd{}, "toolCallId toolName result? isError? parentToolCallId?"},
	{event.ApprovalsChanged{}, "approvals"},
	{event.ApprovalModeChanged{}, "mode"},
	{event.ModeChanged{}, "mode"},
	{event.CommandsChanged{}, ""},
	{event.SessionInfoChanged{}, "name?"},
	{event.QueueChanged{}, "steering? followUp?"},
	{event.ModelChanged{}, "model? role?"},
	{event.ThinkingLevelChanged{}, "thinkingLevel"},
	{event.RetryStart{}, "attempt? maxAttempts? delayMs? reason? errorMessage?"},
	{event.RetryEnd{}, "attempt? success? errorMessage?"},
	{event.CompactionStart{}, "compactionReason?"},
	{event.CompactionEnd{}, "compactionReason? result? aborted? errorMessage? willRetry?"},
	{event.BashUpdate{}, "text?"},
	{event.BashEnd{}, "message entryId?"},
	{event.BackgroundChanged{}, "running?"},
	{event.NotSaved{}, "errorMessage?"},
	{event.ChangesChanged{}, "totals paths record?"},
	{event.Rewound{}, "id files redo conversation"},
	{event.ForeignBranch{}, "branchId? entryId? entries? program? prompt? text?"},
	{event.LargeSession{}, "bytes text"},
	{event.TeamState{}, "state unsent"},
	{event.TeamWriter{}, "sid device? owner?"},
	{event.TeamForked{}, "sid origin by at"},
	{event.EngineChanged{}, "engine version? state message? details? actions?"},
	{event.QuestionAsked{}, "id method from? title message? options? descriptions? recommended? multi? other? optional? number? of? placeholder? prefill? until?"},
	{event.QuestionGone{}, "id"},
	{event.EngineStatus{}, "key lines?"},
	{event.Prefill{}, "text"},
	{event.Notice{}, "text level?"},
	{event.Error{}, "text? kind? errorMessage"},
}

// events writes one interface per type of event and their union, which is discriminated by the
// member "type".
func (w *wire) events(b *strings.Builder) error {
	var names []string
	for _, shape := range eventShapes {
		members, err := shape.schemas(w)
		if err != nil {
			return err
		}
		name := eventName(shape.of.Type())
		names = append(names, name)
		fmt.Fprintf(b, "\nexport interface %s {\n  type: %s;\n", name, singleQuoted(shape.of.Type()))
		for _, m := range members {
			mark := ""
			if m.optional {
				mark = "?"
			}
			fmt.Fprintf(b, "  %s%s: %s;\n", m.key, mark, w.member(reflect.TypeOf(shape.of), m.key, notNull(m.schema), true))
		}
		b.WriteString("}\n")
	}
	b.WriteString("\n/** What happened in a session. A client ignores types that it does not know. */\nexport type SessionEvent =\n  | " +
		strings.Join(names, "\n  | ") + ";\n")
	return nil
}

// notNull returns the schema of a member without null: an event omits a member that has no value.
func notNull(s *jsonschema.Schema) *jsonschema.Schema {
	s = s.CloneSchemas()
	if s.Ref != "" || len(s.Types) > 1 {
		s.Types = slices.DeleteFunc(slices.Clone(s.Types), func(t string) bool { return t == "null" })
	}
	return s
}

// eventName returns the name of an event's interface: AgentStartEvent for agent_start.
func eventName(name string) string {
	var b strings.Builder
	for word := range strings.SplitSeq(name, "_") {
		b.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return b.String() + "Event"
}
