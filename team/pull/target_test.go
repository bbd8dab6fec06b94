package pull_test

import (
	"bytes"
	"path/filepath"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/team"
	"github.com/xcsh-ls/xcsh-ls/team/shipping"
)

// A session goes to its own program if that is here, else to us, with its dialect in the header.
func TestTheTargetFollowsTheDialect(t *testing.T) {
	t.Parallel()
	const uuid = "01a1f87d-6acf-74fb-9f17-079846eae162"
	fork := `{"type":"session","version":3,"id":"fedcba9876543210","timestamp":"2026-01-02T03:04:05.000Z","cwd":"/w","dialect":"pi"}`
	for name, c := range map[string]struct {
		header  string
		of      session.Dialect
		pi      bool
		dir     string
		dialect string
	}{
		"pi's, with pi":         {st.Header(uuid, "/w"), session.Pi, true, piRoot, ""},
		"pi's, without":         {st.Header(uuid, "/w"), session.Pi, false, ownRoot, "pi"},
		"omp's, without":        {st.Header(uuid, "/w"), session.Omp, true, ownRoot, "omp"},
		"ours, with pi":         {st.Header(headerID, "/w"), session.Xcsh, true, ownRoot, ""},
		"our fork of pi's":      {fork, session.Pi, true, ownRoot, "pi"},
		"our fork, without pi":  {fork, session.Pi, false, ownRoot, "pi"},
		"another, hostile kind": {st.Header(headerID, "/w"), session.Dialect(77), true, ownRoot, "xcsh"},
	} {
		w := newWorld(t)
		content := []byte(st.File(c.header, st.User("aaaaaaaa", "", "hello")))
		p := w.publish(content, 99, func(o *team.Opening) { o.Dialect = c.of })
		m := at(afero.NewMemMapFs(), w.kim)
		if c.pi {
			m.withPi()
		}
		path, err := m.pull(t, p.sid)
		require.NoError(t, err, name)
		requirePulled(t, m.fs, path, p)
		rel, err := filepath.Rel(filepath.Join(c.dir, "sessions"), path)
		require.NoError(t, err)
		require.NotContains(t, rel, "..", name)
		file, err := afero.ReadFile(m.fs, path)
		require.NoError(t, err)
		h, err := shipping.ReadHead(bytes.NewReader(file))
		require.NoError(t, err)
		require.Equal(t, c.dialect, h.Header().Dialect, name)
		doc, err := m.config.Sessions.Load(path)
		require.NoError(t, err)
		if c.of <= session.Omp {
			require.Equal(t, c.of, doc.Dialect(), name)
		}
	}
}

// The parent is the local file if it is here, else its id.
func TestTheParentIsLocal(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := at(afero.NewMemMapFs(), w.kim)
	parent := w.publish(conversation(3), 300)
	child := []byte(st.File(`{"type":"session","version":3,"id":"fedcba9876543210","timestamp":"2026-01-02T03:04:05.000Z","cwd":"/w","parentSession":"/home/ann/2026_`+
		headerID+`.jsonl"}`, st.User("aaaaaaaa", "", "hello")))
	p := w.publish(child, 300, func(o *team.Opening) { o.FileName = "child.jsonl" })
	path, err := m.pull(t, p.sid)
	require.NoError(t, err)
	require.Equal(t, headerID, parentOf(t, m, path))
	require.NoError(t, m.fs.Remove(path))
	at, err := m.pull(t, parent.sid)
	require.NoError(t, err)
	path, err = m.pull(t, p.sid)
	require.NoError(t, err)
	require.Equal(t, at, parentOf(t, m, path))
}

func parentOf(t *testing.T, m *machine, path string) string {
	t.Helper()
	file, err := afero.ReadFile(m.fs, path)
	require.NoError(t, err)
	h, err := shipping.ReadHead(bytes.NewReader(file))
	require.NoError(t, err)
	return h.Header().ParentSession
}
