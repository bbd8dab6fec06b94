package agent_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/compaction"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// The tokens of a context that is read from its end are those of the whole context.
func TestContextTokensAreThoseOfTheWholeContext(t *testing.T) {
	counts := 0
	for seed := range uint64(60) {
		dialect := session.Dialect(seed % 3)
		r := rand.New(rand.NewPCG(seed, 1))
		content := `{"type":"session","version":3,"id":"019ce210-7893-7fb8-9a3d-1e601c115a0b","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}` + "\n"
		if dialect == session.Omp {
			content = `{"type":"title","v":1,"title":"One","source":"auto","updatedAt":"2026-01-01T00:00:00.000Z","pad":"   "}` + "\n" + content
		}
		parent := "null"
		for n := range 40 {
			id := fmt.Sprintf("%08x", n+1)
			at := n - r.IntN(3)
			head := fmt.Sprintf(`{"id":%q,"parentId":%s,"timestamp":"2026-01-01T00:00:%02d.000Z",`, id, parent, n)
			switch r.IntN(6) {
			case 0:
				content += head + fmt.Sprintf(`"type":"compaction","summary":"s","tokensBefore":5,"firstKeptEntryId":"%08x"}`, 1+r.IntN(n+1))
			case 1:
				content += head + fmt.Sprintf(`"type":"message","message":{"role":"toolResult","toolCallId":"c%d","toolName":"t","content":[],"timestamp":%d}}`, r.IntN(n+1), 1767225600000+at*1000)
			case 2:
				content += head + `"type":"custom_message","customType":"c","content":"more","display":true}`
			case 3:
				content += head + fmt.Sprintf(`"type":"message","message":{"role":"user","content":"%0*d","timestamp":%d}}`, r.IntN(90), n, 1767225600000+at*1000)
			default:
				content += head + fmt.Sprintf(`"type":"message","message":{"role":"assistant","content":[{"type":"toolCall","id":"c%d","name":"t","arguments":{}}],"provider":"p","model":"m","usage":{"input":%d,"totalTokens":%d},"stopReason":%q,"timestamp":%d}}`,
					n, r.IntN(2)*9, r.IntN(3)*50, []string{"stop", "error", "toolUse"}[r.IntN(3)], 1767225600000+at*1000)
			}
			content += "\n"
			parent = `"` + id + `"`
		}
		fs := afero.NewMemMapFs()
		require.NoError(t, afero.WriteFile(fs, "/s.jsonl", []byte(content), 0o600))
		store := session.NewStore(session.StoreConfig{Fs: fs, RootFor: func(string) (session.FileRoot, bool) { return session.FileRoot{Dialect: dialect}, true }})
		d, err := store.Load("/s.jsonl")
		require.NoError(t, err)
		for i := range d.Len() {
			leaf := session.At(d.ID(i))
			whole, _, err := session.BuildContext(d, leaf, nil)
			require.NoError(t, err)
			want, fresh := compaction.Tokens(whole.Messages)
			got, state, err := agent.ContextTokens(d, leaf)
			require.NoError(t, err)
			require.Equal(t, want, got, "seed %d, entry %d", seed, i)
			require.Equal(t, whole.Models, state.Models)
			if fresh {
				counts++
			}
		}
	}
	require.Greater(t, counts, 200, "counts of a service are found")
}
