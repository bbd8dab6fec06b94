package attack

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
)

// The model keeps a plan in its session only, and cannot ask where no one can answer. Neither writes a file, and a plan has an end.
func TestAPlanIsNoFileAndHasAnEnd(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"read-only", "yolo"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			v := newVictim(t)
			items := make([]any, 1001)
			for i := range items {
				items[i] = strings.Repeat("x", i+1)
			}
			before := v.tree()
			v.does([]providertest.Call{
				{Name: "todo_write", Args: map[string]any{"ops": []any{map[string]any{"op": "replace", "phases": []any{map[string]any{"name": "../../x", "tasks": []any{map[string]any{"content": "a\x1b[2J"}}}}}}}},
				{Name: "todo", Args: map[string]any{"op": "append", "phase": "../../x", "items": items}},
				{Name: "todo", Args: map[string]any{"op": "view"}},
				{Name: "ask", Args: map[string]any{"questions": []any{map[string]any{"id": "a", "question": "Which?", "options": []any{map[string]any{"label": "x"}}}}}},
			})
			v.ask("--approval", mode)
			results := v.results()
			require.Len(t, results, 4)
			require.Contains(t, results[0], "Remaining items (1):")
			require.Contains(t, results[1], "A todo list has at most 1000 tasks")
			require.Contains(t, results[2], "Overall: 0/1 done", "nothing of the refused call is kept")
			require.Equal(t, "Tool ask not found", results[3])
			require.Equal(t, before, v.tree())
		})
	}
}
