package session

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
)

// A reset of the context means something to oh-my-pi only. Long conversations, which have a spine, show in the
// files of other programs what is before it.
func TestAResetInALongConversation(t *testing.T) {
	t.Parallel()
	const before = 600
	require.Greater(t, before, spineFrom)
	for dialect, want := range map[Dialect]int{Xcsh: before + 1, Pi: before + 1, Omp: 1} {
		fs := afero.NewMemMapFs()
		content := st.Header("0190000000000001", "/w") + "\n"
		for i := range before {
			parent := ""
			if i > 0 {
				parent = fmt.Sprintf("%08x", i-1)
			}
			content += st.User(fmt.Sprintf("%08x", i), parent, "before") + "\n"
		}
		content += fmt.Sprintf(`{"type":"reset_boundary","id":"aaaaaaaa","parentId":"%08x"}`, before-1) + "\n" + st.User("bbbbbbbb", "aaaaaaaa", "after") + "\n"
		path := filepath.FromSlash("/s/one.jsonl")
		require.NoError(t, afero.WriteFile(fs, path, []byte(content), 0o600))
		d, err := load(fs, path, &dialect)
		require.NoError(t, err)
		ctx, problems, err := BuildContext(d, AtLast(), nil)
		require.NoError(t, err)
		require.Empty(t, problems)
		require.Len(t, ctx.Messages, want, dialect)
		state, err := d.ContextState(AtLast())
		require.NoError(t, err)
		require.Equal(t, want, state.MessageCount, dialect)
		if dialect == Omp {
			require.NotContains(t, fmt.Sprintf("%s", ctx.Messages), "before")
		} else {
			require.Equal(t, before, strings.Count(fmt.Sprintf("%s", ctx.Messages), "before"))
		}
	}
}
