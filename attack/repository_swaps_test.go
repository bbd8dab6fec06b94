package attack

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/lsptest"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
)

// What was harmless in one turn is decided about again in the next one of the same program: instructions
// that become a link to a key, a file of the project that does, and a file to which the user's own list
// of keys leads only now.
func TestLinksSwappedBetweenTwoTurns(t *testing.T) {
	t.Parallel()
	v := newVictim(t)
	agents, notes, kept := v.path("AGENTS.md"), v.path("notes.md"), v.path("kept.txt")
	v.write(agents, "harmless instructions")
	v.write(notes, "harmless notes")
	v.write(kept, "harmless so far")
	reads := func(path string) providertest.Reply {
		return providertest.Reply{ToolCalls: call("read", map[string]any{"path": path})}
	}
	turn := []providertest.Reply{reads(notes), reads(kept), {Text: "Done."}}
	v.Script("m", append(turn, turn...)...)
	ed := v.edit(lsptest.Fields{})
	prompt := func() {
		_, err := ed.Exec("xcsh.prompt", lsptest.Fields{"text": "go"})
		require.Nil(t, err)
	}
	prompt()
	assert.Contains(t, v.system(), "harmless instructions")
	assert.Contains(t, v.system(), "harmless so far")

	key := filepath.Join(v.home, ".ssh", "id_rsa")
	for _, path := range []string{agents, notes} {
		require.NoError(t, os.Remove(path))
	}
	require.NoError(t, os.Link(key, agents))
	require.NoError(t, os.Symlink(key, notes))
	v.write(kept, secret)
	require.NoError(t, os.Symlink(kept, filepath.Join(v.home, ".ssh", "kept")))
	prompt()
	assert.Len(t, v.Requests(), 6)
	assert.Empty(t, v.leaked())
}
