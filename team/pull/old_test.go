package pull_test

import (
	"context"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/team"
)

// An old format is not converted while another device writes: its next lines would have no ids.
func TestAnOldFormatWaitsForItsWriter(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.publish(oldConversation(), 100)
	lease, err := w.ann.Lease(t.Context(), p.sid, false)
	require.NoError(t, err)
	m := at(afero.NewMemMapFs(), w.kim)
	_, err = m.pull(t, p.sid)
	requireKind(t, fault.Busy, err)
	require.Empty(t, visible(t, m.fs))
	require.NoError(t, w.ann.Release(t.Context(), p.sid, lease.Fence))
	path, err := m.pull(t, p.sid)
	require.NoError(t, err)
	requireConverted(t, w, m, path, oldConversation(), p)
	tip, err := w.ann.Lease(t.Context(), p.sid, false)
	require.NoError(t, err)
	require.Equal(t, team.OK, tip.Code, "the lease was given back")
}

// A reader of the team converts the file alone. It is the file that a writer would make.
func TestAReaderConvertsAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.publish(oldConversation(), 100)
	w.server.Member("eve", "core", 1)
	reader := at(afero.NewMemMapFs(), w.connect("eve"))
	path, err := reader.pull(t, p.sid)
	require.NoError(t, err)
	tip, err := w.kim.Tip(t.Context(), p.sid)
	require.NoError(t, err)
	require.Equal(t, 1, tip.Gen)
	writer := at(afero.NewMemMapFs(), w.kim)
	other, err := writer.pull(t, p.sid)
	require.NoError(t, err)
	require.Equal(t, files(t, writer.fs)[other], files(t, reader.fs)[path])
}

// The list shows the same before and after.
func TestAConvertedSessionIsListedAlike(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.publish(oldConversation(), 100)
	_, err := at(afero.NewMemMapFs(), w.kim).pull(t, p.sid)
	require.NoError(t, err)
	list, err := w.kim.List(t.Context(), team.ListQuery{Project: w.project, Limit: 9})
	require.NoError(t, err)
	require.Len(t, list, 1)
	require.Equal(t, "one", list[0].FirstPrompt)
	require.Equal(t, 3, list[0].Messages)
	require.Equal(t, "ann", list[0].Owner)
}

// racing is a store to which a line is appended before the generation is published, once.
type racing struct {
	team.Store
	race func()
}

func (r *racing) Publish(ctx context.Context, p team.Publish) (team.Tip, error) {
	if race := r.race; race != nil {
		r.race = nil
		race()
	}
	return r.Store.Publish(ctx, p)
}

// A line that another device appends meanwhile, which took the lease by force, is in the converted file, too.
func TestALineThatArrivesWhileConverting(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.publish(oldConversation(), 100)
	line := `{"type":"message","timestamp":"2025-01-02T03:04:07.000Z","message":{"role":"user","content":"late"}}` + "\n"
	store := &racing{Store: w.kim, race: func() {
		_, err := w.ann.Lease(t.Context(), p.sid, true)
		require.NoError(t, err)
		w.append(p, []byte(line))
		tip, err := w.ann.Tip(t.Context(), p.sid)
		require.NoError(t, err)
		require.NoError(t, w.ann.Release(t.Context(), p.sid, tip.Fence))
	}}
	m := at(afero.NewMemMapFs(), store)
	path, err := m.pull(t, p.sid)
	require.NoError(t, err)
	require.Nil(t, store.race)
	requireConverted(t, w, m, path, append(oldConversation(), line...), p)
}

// A large old body is staged in several pieces.
func TestALargeOldSession(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	content := oldConversation()
	for len(content) < 3<<20 {
		content = append(content, `{"type":"message","timestamp":"2025-01-02T03:04:07.000Z","message":{"role":"hookMessage","content":"`...)
		for range 1000 {
			content = append(content, "0123456789"...)
		}
		content = append(content, "\"}}\n"...)
	}
	p := w.publish(content, 1<<20)
	m := at(afero.NewMemMapFs(), w.kim)
	path, err := m.pull(t, p.sid)
	require.NoError(t, err)
	requireConverted(t, w, m, path, content, p)
}
