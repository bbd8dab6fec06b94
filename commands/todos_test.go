package commands_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/session"
)

// The newest of the model's calls and the user's changes in oh-my-pi is the plan, before and after the whole file is read.
func TestTheUserOfOmpChangesThePlan(t *testing.T) {
	const (
		at    = `"timestamp":"2026-01-01T00:00:00.000Z"`
		call  = `{"type":"message","id":"%[1]s","parentId":"%[2]s",` + at + `,"message":{"role":"assistant","content":[{"type":"toolCall","id":"t","name":"todo","arguments":{"op":"init"}}],"stopReason":"toolUse"}}`
		reply = `{"type":"message","id":"%[1]s","parentId":"%[2]s",` + at + `,"message":{"role":"toolResult","toolCallId":"t","toolName":"todo","content":[],"details":{"op":"init","phases":[{"name":"model","tasks":[]}]},"isError":false}}`
		edit  = `{"type":"custom","id":"%[1]s","parentId":"%[2]s",` + at + `,"customType":"user_todo_edit","data":{"phases":[{"name":"user","tasks":[]}]}}`
		empty = `{"type":"custom","id":"%[1]s","parentId":"%[2]s",` + at + `,"customType":"user_todo_edit","data":{"phases":[]}}`
		bad   = `{"type":"custom","id":"%[1]s","parentId":"%[2]s",` + at + `,"customType":"user_todo_edit","data":{"phases":"none"}}`
		other = `{"type":"custom","id":"%[1]s","parentId":"%[2]s",` + at + `,"customType":"another","data":{"phases":[{"name":"other","tasks":[]}]}}`
	)
	plan := func(name string) any { return []any{map[string]any{"name": name, "tasks": []any{}}} }
	for name, tc := range map[string]struct {
		dialect session.Dialect
		entries []string
		want    any
	}{
		"after the model's call":        {session.Omp, []string{call, reply, edit}, plan("user")},
		"before the model's call":       {session.Omp, []string{edit, call, reply}, plan("model")},
		"without a call":                {session.Omp, []string{edit}, plan("user")},
		"all removed":                   {session.Omp, []string{call, reply, empty}, []any{}},
		"damaged, and another's record": {session.Omp, []string{call, reply, bad, other}, plan("model")},
		"in another program's session":  {session.Xcsh, []string{call, reply, edit}, plan("model")},
	} {
		t.Run(name, func(t *testing.T) {
			lines, parent := lateLines(tc.dialect, 30, true), "b000001d"
			for i, entry := range tc.entries {
				id := fmt.Sprintf("d%07x", i)
				lines = append(lines, fmt.Sprintf(entry, id, parent))
				parent = id
			}
			g := newGate(late1)
			open := sync.OnceFunc(func() { close(g.open) })
			defer open() // also if the test fails
			env, _ := lateEnv(t, g, lines)
			do(t, env, "xcsh.resume", args{"target": late1})
			<-g.read
			require.Equal(t, tc.want, do(t, env, "xcsh.snapshot", args{"last": 3})["todos"], "early")
			open()
			do(t, env, "xcsh.stats", nil)
			require.Equal(t, tc.want, do(t, env, "xcsh.snapshot", args{"last": 3})["todos"])
			require.Equal(t, tc.want, do(t, env, "xcsh.snapshot", nil)["todos"])
		})
	}
}
