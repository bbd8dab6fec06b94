package pull_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/team"
	"github.com/xcsh-ls/xcsh-ls/team/shipping"
)

func TestPullWritesTheSession(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.publish(conversation(40), 700)
	m := at(afero.NewMemMapFs(), w.kim)
	var steps [][2]int64
	path, err := m.puller().Pull(t.Context(), p.sid, cwd, func(done, total int64) { steps = append(steps, [2]int64{done, total}) })
	require.NoError(t, err)
	requirePulled(t, m.fs, path, p)
	require.Len(t, files(t, m.fs), 1, "nothing else stays behind")
	require.Equal(t, named, filepath.Base(path))
	dir, err := m.library.DirFor(cwd)
	require.NoError(t, err)
	require.Equal(t, dir, filepath.Dir(path))
	n := int64(len(p.body))
	require.Equal(t, [][2]int64{{0, n}, {n, n}}, steps)
	again, err := m.pull(t, p.sid)
	require.NoError(t, err)
	require.Equal(t, path, again)
	require.Len(t, files(t, m.fs), 1)
}

// TestEveryFixtureComesBack: each file that a real program wrote comes back byte for byte behind its header. Files of old formats come
// back in the current one, with the ids that this program shows for them, and so they are in the store afterwards.
func TestEveryFixtureComesBack(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("../../testdata/sessions/*/*.jsonl")
	require.NoError(t, err)
	pulled, converted := 0, 0
	for _, fixture := range paths {
		content, err := os.ReadFile(fixture)
		require.NoError(t, err)
		h, err := shipping.ReadHead(bytes.NewReader(content))
		if err != nil {
			continue
		}
		content = content[:bytes.LastIndexByte(content, '\n')+1]
		w := newWorld(t)
		p := w.publish(content, 1+len(content)/7)
		m := at(afero.NewMemMapFs(), w.kim).withPi()
		path, err := m.pull(t, p.sid)
		require.NoError(t, err, fixture)
		if h.Header().Version >= session.CurrentVersion {
			requirePulled(t, m.fs, path, p)
			pulled++
			continue
		}
		requireConverted(t, w, m, path, content, p)
		converted++
	}
	require.Greater(t, pulled, 80)
	require.Positive(t, converted)
}

// requireConverted requires that the file at path is what this program shows for content, in the file and in the store.
func requireConverted(t *testing.T, w *world, m *machine, path string, content []byte, p *published) {
	t.Helper()
	store := session.NewStore(session.StoreConfig{Fs: m.fs, DirFor: m.library.DirFor})
	require.NoError(t, afero.WriteFile(m.fs, "/was.jsonl", content, 0o600))
	was, err := store.Load("/was.jsonl")
	require.NoError(t, err)
	is, err := store.Load(path)
	require.NoError(t, err)
	require.Equal(t, session.CurrentVersion, is.Header().Version)
	require.Equal(t, was.Len(), is.Len())
	for i := range was.Len() {
		a, err := was.Entry(i)
		require.NoError(t, err)
		b, err := is.Entry(i)
		require.NoError(t, err)
		require.Equal(t, string(a.Raw), string(b.Raw))
	}
	require.NoError(t, m.fs.Remove("/was.jsonl"))
	tip, err := w.kim.Tip(t.Context(), p.sid)
	require.NoError(t, err)
	file, err := afero.ReadFile(m.fs, path)
	require.NoError(t, err)
	h, err := shipping.ReadHead(bytes.NewReader(file))
	require.NoError(t, err)
	require.Equal(t, team.SumOf(file[h.Len():]), tip.Sum)
	gen := 2
	if team.SumOf(p.body) == tip.Sum { // no line has to change
		gen = 1
	}
	require.Equal(t, gen, tip.Gen)
	head, err := w.kim.Head(t.Context(), p.sid)
	require.NoError(t, err)
	inStore, err := shipping.ParseHead(head.Bytes)
	require.NoError(t, err)
	require.Equal(t, session.CurrentVersion, inStore.Header().Version)
	require.Len(t, files(t, m.fs), 1)
	other := at(afero.NewMemMapFs(), w.ann).withPi()
	path, err = other.pull(t, p.sid)
	require.NoError(t, err)
	copied, err := afero.ReadFile(other.fs, path)
	require.NoError(t, err)
	require.Equal(t, string(file), string(copied), "every machine has the same bytes")
	tip, err = w.kim.Tip(t.Context(), p.sid)
	require.NoError(t, err)
	require.Equal(t, gen, tip.Gen, "once")
}

func TestPullNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.publish(conversation(0), 100)
	m := at(afero.NewMemMapFs(), w.kim)
	path, err := m.pull(t, p.sid)
	require.NoError(t, err)
	requirePulled(t, m.fs, path, p)
	_, err = m.pull(t, team.NewSID())
	requireKind(t, fault.NotFound, err)
	require.NoError(t, w.ann.Delete(t.Context(), p.sid, false))
	_, err = at(afero.NewMemMapFs(), w.kim).pull(t, p.sid)
	requireKind(t, fault.NotFound, err)
}
