package acp_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
)

// askCall returns a call of the tool ask.
func askCall(questions string) providertest.Call {
	return providertest.Call{Name: "ask", Args: json.RawMessage(`{"i":"Asking","questions":` + questions + `}`)}
}

// plans returns the entries of the plans that the client received.
func plans(all []update) (plans [][]object) {
	for _, u := range all {
		if u.Kind == "plan" {
			plans = append(plans, u.Entries)
		}
	}
	return plans
}

// A client that shows forms gets the model's questions in the form of oh-my-pi, and every change of the model's plan.
func TestAFormAsksTheUser(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.planning = true
	w.models.Script("m",
		providertest.Reply{ToolCalls: []providertest.Call{askCall(`[{"id":"db","question":"Which database?","options":[{"label":"SQLite","description":"a file"},{"label":"PostgreSQL"}],"recommended":0}]`)}},
		providertest.Reply{ToolCalls: []providertest.Call{askCall(`[{"id":"a","question":"A?","options":[{"label":"x"},{"label":"y"}],"multi":true},{"id":"b","question":"B?","options":[{"label":"z"}]}]`)}},
		providertest.Reply{ToolCalls: []providertest.Call{askCall(`[{"id":"c","question":"C?","options":[{"label":"z"}]}]`)}},
		providertest.Reply{ToolCalls: []providertest.Call{{Name: "todo_write", Args: json.RawMessage(`{"ops":[{"op":"replace","phases":[{"name":"p","tasks":[{"content":"one"},{"content":"two"}]}]}]}`)}}},
		providertest.Reply{ToolCalls: []providertest.Call{{Name: "todo", Args: json.RawMessage(`{"op":"drop","task":"two"}`)}}},
		providertest.Reply{ToolCalls: []providertest.Call{{Name: "todo", Args: json.RawMessage(`{"op":"view"}`)}}},
		providertest.Reply{ToolCalls: []providertest.Call{{Name: "todo", Args: json.RawMessage(`{"op":"done","task":"none"}`)}}},
		providertest.Reply{Text: "Done."})
	c := w.connect(t, object{"elicitation": object{"form": object{}}})
	answers := []object{
		{"action": "accept", "content": object{"q0": "SQLite"}},
		{"action": "accept", "content": object{"q0": []string{"y", "x"}, "q1": "z", "q1__other": "own"}},
		{"action": "decline"},
	}
	var forms []string
	c.on("elicitation/create", func(p json.RawMessage) (any, *wireError) {
		forms = append(forms, string(p))
		return answers[len(forms)-1], nil
	})
	id := c.open()
	require.Equal(t, "end_turn", c.prompt(id, "ask me"))
	require.Len(t, forms, 3)
	require.JSONEq(t, `{"mode":"form","sessionId":"`+id+`","message":"Which database?","requestedSchema":{"type":"object","properties":{"q0":{"type":"string","title":"Which database?",
		"oneOf":[{"const":"SQLite","title":"SQLite","description":"a file"},{"const":"PostgreSQL","title":"PostgreSQL"}],"default":"SQLite"},
		"q0__other":{"type":"string","title":"Other (type your own)"}}}}`, forms[0])
	require.Contains(t, forms[1], `"q0":{"type":"array","title":"A?","items":{"anyOf":[{"const":"x","title":"x"},{"const":"y","title":"y"}]}}`)
	results := []string{}
	for _, r := range w.models.Requests()[1:4] {
		results = append(results, r.Messages[len(r.Messages)-1].PlainText())
	}
	require.Equal(t, []string{"User selected: SQLite", "User answers:\na: [y, x]\nb: \"own\"", "The user did not answer."}, results)
	require.Equal(t, [][]object{
		{{"content": "one", "priority": "medium", "status": "in_progress"}, {"content": "two", "priority": "medium", "status": "pending"}},
		{{"content": "one", "priority": "medium", "status": "in_progress"}},
	}, plans(c.updates(id)), "a view and an error change nothing")
}

// A client without forms has nobody to ask.
func TestAClientWithoutFormsIsNotAsked(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.planning = true
	w.models.Script("m", providertest.Reply{ToolCalls: []providertest.Call{askCall(`[{"id":"a","question":"?","options":[{"label":"x"}]}]`)}}, providertest.Reply{Text: "Done."})
	c := w.connect(t, object{})
	require.Equal(t, "end_turn", c.prompt(c.open(), "ask me"))
	for _, tool := range w.models.Requests()[0].Tools {
		require.NotEqual(t, "ask", tool.Name)
	}
	last := w.models.Requests()[1].Messages
	require.Equal(t, "Tool ask not found", last[len(last)-1].PlainText())
}
