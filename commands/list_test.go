package commands_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/commands"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
)

// TestListInParts: a client that requests partial results gets the same list, in the same order, and a
// result without it.
// Proves: X-156
func TestListInParts(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	env := newEnv(fs)
	for i := range 250 {
		id := fmt.Sprintf("0190000000000%03d", i)
		path := sessions + "/2026-01-01T00-00-00-000Z_" + id + ".jsonl"
		write(t, fs, path, talk(id)...)
		changed := time.Date(2026, 1, 1, 0, i*7%250, 0, 0, time.UTC)
		require.NoError(t, fs.Chtimes(path, changed, changed))
	}
	write(t, fs, sessions+"/damaged.jsonl", "no header")
	for name, c := range map[string]struct {
		args  args
		parts []int
	}{
		"all":               {args{}, []int{100, 100, 50}},
		"a page":            {args{"limit": 120}, []int{100, 20}},
		"a short page":      {args{"limit": 3}, []int{3}},
		"the next page":     {args{"limit": 120, "cursor": "120"}, []int{100, 20}},
		"the last page":     {args{"limit": 120, "cursor": "240"}, []int{10}},
		"behind the end":    {args{"cursor": "1000"}, nil},
		"a query":           {args{"query": "one"}, []int{100, 100, 50}},
		"a page of a query": {args{"query": "one", "limit": 101, "cursor": "1"}, []int{100, 1}},
		"nothing":           {args{"query": "in no conversation"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := do(t, env, "xcsh.list", c.args)
			if _, all := c.args["query"]; !all { // parts are sent before the other users of a slug are known
				list, _ := want["sessions"].([]any)
				for _, i := range list {
					delete(i.(args), "slug") //nolint:forcetypeassert // of JSON
				}
			}
			var sizes []int
			got := []any{}
			ctx := commands.WithPartial(t.Context(), func(part any) {
				raw, err := json.Marshal(part)
				require.NoError(t, err)
				var p map[string][]any
				require.NoError(t, json.Unmarshal(raw, &p))
				require.Len(t, p, 1)
				sizes = append(sizes, len(p["sessions"]))
				got = append(got, p["sessions"]...)
			})
			raw, err := run(ctx, env, "xcsh.list", c.args)
			require.NoError(t, err)
			require.Equal(t, c.parts, sizes)
			require.Equal(t, want["sessions"], got)
			want["sessions"] = []any{}
			rest, err := json.Marshal(want)
			require.NoError(t, err)
			require.JSONEq(t, string(rest), string(raw))
		})
	}
}

// TestListPartsMarkLiveSessions: parts that are sent before the list is complete are marked
// like the list.
func TestListPartsMarkLiveSessions(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	env := newEnv(fs)
	for i := range 100 {
		id := fmt.Sprintf("0190000000000%03d", i)
		write(t, fs, sessions+"/2026-01-01T00-00-00-000Z_"+id+".jsonl", st.Header(id, "/w"), st.User("aaaaaaaa", "", "one"))
	}
	do(t, env, "xcsh.resume", args{"target": "0190000000000042"})
	var live []string
	_, err := run(commands.WithPartial(t.Context(), func(part any) {
		p, ok := part.(commands.ListPart)
		require.True(t, ok)
		for _, i := range p.Sessions {
			if i.Live {
				live = append(live, i.ID)
			}
		}
	}), env, "xcsh.list", nil)
	require.NoError(t, err)
	require.Equal(t, []string{"0190000000000042"}, live)
}
