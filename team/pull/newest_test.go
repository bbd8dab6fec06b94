package pull_test

import (
	"context"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/racetest"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
	"github.com/xcsh-ls/xcsh-ls/team"
)

// backwards counts the bytes that are read from the end, and fails calls.
type backwards struct {
	team.Store
	bytes int
	fails int // the number of calls that fail
	seg   func(*team.Segment)
}

func (b *backwards) Back(ctx context.Context, sid team.SID, gen int, before int64, most int, each func(team.Segment) error) error {
	if b.fails > 0 {
		b.fails--
		return errOffline
	}
	return b.Store.Back(ctx, sid, gen, before, most, func(s team.Segment) error {
		b.bytes += len(s.Bytes)
		if b.seg != nil {
			b.seg(&s)
		}
		return each(s)
	})
}

// large is a conversation of about n bytes with a compaction near its end.
func large(n int) []byte {
	lines := []string{st.Header(headerID, "/elsewhere/web")}
	parent, size := "", 0
	add := func(id string) {
		line := st.User(id, parent, strings.Repeat("word ", 2000))
		lines, parent = append(lines, line), id
		size += len(line)
	}
	for i := 0; size < n; i++ {
		add(hex8(i))
	}
	lines = append(lines, `{"type":"compaction","id":"cccccccc","parentId":"`+parent+`","timestamp":"2026-01-02T03:04:05.000Z","summary":"short","firstKeptEntryId":"`+parent+`","tokensBefore":5}`)
	parent = "cccccccc"
	lines = append(lines, st.User("dddddddd", parent, "the last prompt"))
	return []byte(st.File(lines...))
}

func hex8(i int) string {
	const digits = "0123456789abcdef"
	b := []byte("e0000000")
	for at := 7; i > 0; at, i = at-1, i/16 {
		b[at] = digits[i%16]
	}
	return string(b)
}

// The end of a large session is shown before it is pulled, and is what the file shows afterwards.
func TestTheNewestPart(t *testing.T) {
	t.Parallel()
	racetest.Large(t)
	w := newWorld(t)
	content := large(12 << 20)
	p := w.publish(content, 300<<10)
	store := &backwards{Store: w.kim, fails: 2}
	m := at(afero.NewMemMapFs(), store)
	tail, ok, err := m.puller().Newest(t.Context(), p.sid, cwd)
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, "dddddddd", tail.LeafID)
	require.Equal(t, cwd, tail.Header.Cwd)
	require.Less(t, store.bytes, 5<<20)
	require.Empty(t, files(t, m.fs), "nothing is written")
	path, err := m.pull(t, p.sid)
	require.NoError(t, err)
	local, ok, err := m.config.Sessions.Newest(path, true)
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, local.Context, tail.Context)
}

func TestTheNewestPartOfOthers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := at(afero.NewMemMapFs(), w.kim)
	_, _, err := m.puller().Newest(t.Context(), team.NewSID(), cwd)
	requireKind(t, fault.NotFound, err)
	p := w.publish(oldConversation(), 100)
	_, ok, err := m.puller().Newest(t.Context(), p.sid, cwd)
	require.NoError(t, err)
	require.False(t, ok, "an old format has to be converted")
	w = newWorld(t)
	p = w.publish(large(1<<20), 100<<10)
	m = at(afero.NewMemMapFs(), &backwards{Store: w.kim, fails: 100})
	_, _, err = m.puller().Newest(t.Context(), p.sid, cwd)
	requireKind(t, fault.Offline, err)
	for name, lie := range map[string]func(*team.Segment){
		"codec":   func(s *team.Segment) { s.Codec = 1 },
		"overlap": func(s *team.Segment) { s.Off += 5 },
		"hole":    func(s *team.Segment) { s.Bytes = s.Bytes[:len(s.Bytes)/2] },
	} {
		m := at(afero.NewMemMapFs(), &backwards{Store: w.kim, seg: lie})
		_, ok, err := m.puller().Newest(t.Context(), p.sid, cwd)
		require.NoError(t, err, name)
		if name != "overlap" { // its bytes may be those of lines: nothing but checksums would find out
			require.False(t, ok, name)
		}
		require.Empty(t, files(t, m.fs), name)
	}
}
