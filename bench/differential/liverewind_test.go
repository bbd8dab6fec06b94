//go:build peers

package differential

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/change/wire"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
)

// writing is a turn of ours that writes a file, with the files before it.
type writing struct {
	prompt string // the words of the prompt
	before map[string]string
}

// weWrite runs a turn of ours whose model writes one of three files.
func (d *duet) weWrite() {
	d.t.Helper()
	prompt := fmt.Sprintf("we-%d", d.said+1)
	path, content := filepath.Join(d.work, fmt.Sprintf("file%d", d.r.IntN(3))), fmt.Sprintf("text %d\n", d.said)
	d.Script("theirs", providertest.Reply{
		ToolCalls: []providertest.Call{{Name: "write", Args: map[string]any{"path": path, "content": content}}},
		When:      asks(prompt),
	})
	d.note("we write %s", path)
	d.writes = append(d.writes, writing{prompt, maps.Clone(d.files)})
	d.we()
	d.files[path] = content
}

// weRewind undoes what our turns wrote since before one of them, in half of the cases with the
// conversation, if that is on our branch.
func (d *duet) weRewind() {
	d.t.Helper()
	if len(d.writes) == 0 {
		return
	}
	at := d.r.IntN(len(d.writes))
	to := d.writes[at]
	all := d.entries()
	i := slices.IndexFunc(all, func(e entryLine) bool {
		return e.Message.Role == "user" && slices.Contains(spoken(fmt.Sprint(e.Message.Content)), to.prompt)
	})
	require.GreaterOrEqual(d.t, i, 0)
	conversation := d.r.IntN(2) == 0 && slices.Contains(d.texts(d.leaf()), to.prompt)
	d.note("we rewind before %s, with the conversation: %v", to.prompt, conversation)
	texts := d.texts(d.leaf())
	result, err := d.live.Rewind(d.t.Context(), wire.RewindArgs{Before: &all[i].ID, Conversation: conversation, DryRun: new(false)})
	require.NoError(d.t, err)
	require.Zero(d.t, result.Conflicts, "only our turns change the files")
	require.Equal(d.t, new(true), result.Rewound)
	d.counts["rewinds"]++
	d.files, d.writes = to.before, d.writes[:at]
	if conversation {
		d.own = nil
		require.NotContains(d.t, d.texts(d.leaf()), to.prompt)
	} else {
		require.Equal(d.t, texts, d.texts(d.leaf())[:len(texts)], "the conversation stays, or has followed what they added")
	}
}

// requireFiles requires that the folder has our files and no others.
func (d *duet) requireFiles() {
	d.t.Helper()
	found := map[string]string{}
	entries, err := os.ReadDir(d.work)
	require.NoError(d.t, err)
	for _, e := range entries {
		path := filepath.Join(d.work, e.Name())
		found[path] = string(d.read(path))
	}
	require.Equal(d.t, d.files, found)
}
