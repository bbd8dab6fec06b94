package session_test

import (
	"fmt"
	"math/rand"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/racetest"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
	"github.com/xcsh-ls/xcsh-ls/internal/sessiontest/kit"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// sameAsWhole requires that reading from the end, if it returns a result, gives the same as
// reading the whole file. It reports whether there was a result.
func sameAsWhole(t *testing.T, fs afero.Fs, path string, dialect *session.Dialect) bool {
	t.Helper()
	tail, ok, err := session.LoadTail(fs, path, dialect, nil)
	require.NoError(t, err)
	unheld, again, err := session.LoadTailLong(fs, path, dialect, 100)
	require.NoError(t, err)
	require.Equal(t, ok, again, "whether lines are held decides nothing")
	require.Equal(t, tail, unheld)
	if !ok {
		return false
	}
	doc, err := session.LoadAs(fs, path, dialect)
	require.NoError(t, err)
	want, _, err := session.BuildContext(doc, session.AtLast(), nil)
	require.NoError(t, err)
	require.Equal(t, want, tail.Context, path)
	require.Equal(t, doc.LeafID(session.AtLast()), tail.LeafID, path)
	require.Equal(t, doc.Header(), tail.Header)
	return true
}

// Proves: F-18
func TestReadingFromTheEndEqualsReadingAll(t *testing.T) {
	t.Parallel()
	certain := 0
	pi := session.Pi
	for _, program := range []string{"pi", "omp"} {
		for _, file := range kit.SessionFiles(t, program) {
			for _, d := range []*session.Dialect{nil, &pi} {
				if sameAsWhole(t, kit.DiskFixtures(), file, d) {
					certain++
				}
			}
		}
	}
	require.Greater(t, certain, 60, "most of pi's files are certain")
}

// TestRandomTreesReadFromTheEnd generates files with everything that could make the two
// ways disagree: branches, duplicate ids, forward references, cycles, torn and joined
// lines, compactions that keep from anywhere.
func TestRandomTreesReadFromTheEnd(t *testing.T) {
	t.Parallel()
	racetest.Large(t)
	certain := 0
	for seed := range int64(3000) {
		r := rand.New(rand.NewSource(seed))
		fs := afero.NewMemMapFs()
		kit.Put(t, fs, kit.Filed, randomSession(r))
		if sameAsWhole(t, fs, kit.Filed, nil) {
			certain++
		}
	}
	require.Greater(t, certain, 800)
}

func randomSession(r *rand.Rand) string {
	lines := []string{
		`{"type":"session","version":3,"id":"01a19656-0000-7000-8000-000000000001","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}`,
		`{"type":"model_change","id":"m0","parentId":null,"timestamp":"2026-01-01T00:00:00.000Z","provider":"p","modelId":"m"}`,
	}
	odd := r.Intn(3) == 0
	ids := []string{"m0"}
	last := "m0"
	for i := range 2 + r.Intn(60) {
		id := fmt.Sprintf("e%d", i)
		parent := last
		if r.Intn(8) == 0 {
			parent = ids[r.Intn(len(ids))]
		}
		if odd {
			switch r.Intn(25) {
			case 0:
				id = ids[r.Intn(len(ids))] // a duplicate id
			case 1:
				parent = fmt.Sprintf("e%d", i+r.Intn(4)) // itself, or an entry that does not exist yet
			case 2:
				parent = "nowhere"
			}
		}
		lines = append(lines, randomEntry(r, id, parent, ids))
		if odd && r.Intn(20) == 0 {
			lines = append(lines, []string{"garbage", "", `{"torn":`, "null", `{"type":"x"}`, "{\n}"}[r.Intn(6)])
		}
		ids, last = append(ids, id), id
	}
	content := strings.Join(lines, "\n") + "\n"
	if odd && r.Intn(4) == 0 {
		content = content[:len(content)-1-r.Intn(20)]
	}
	return content
}

func randomEntry(r *rand.Rand, id, parent string, ids []string) string {
	base := fmt.Sprintf(`"id":%q,"parentId":%q,"timestamp":"2026-01-01T00:00:01.000Z"`, id, parent)
	some := ids[r.Intn(len(ids))]
	switch r.Intn(12) {
	case 0:
		return fmt.Sprintf(`{"type":"compaction",%s,"summary":"s %s","firstKeptEntryId":%q,"tokensBefore":1}`, base, id, some)
	case 1:
		return fmt.Sprintf(`{"type":"thinking_level_change",%s,"thinkingLevel":%q}`, base, []string{"low", "high"}[r.Intn(2)])
	case 2:
		return fmt.Sprintf(`{"type":"context_edit",%s,"targetId":%q,"replacement":null}`, base, some)
	case 3:
		return fmt.Sprintf(`{"type":"label",%s,"targetId":%q,"label":"l"}`, base, some)
	case 4:
		return fmt.Sprintf(`{"type":"branch_summary",%s,"fromId":%q,"summary":"left"}`, base, some)
	case 5, 6, 7:
		return st.Assistant(id, parent, "answer "+id)
	}
	return st.User(id, parent, "prompt "+id)
}

func TestFilesThatMustBeReadCompletely(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"pi/v1-compaction", "omp/linear", "pi/odd-harness-v4", "pi/odd-empty", "pi/odd-cycle"} {
		_, ok, err := session.LoadTail(kit.DiskFixtures(), filepath.Join(kit.Fixtures, name+".jsonl"), nil, nil)
		require.NoError(t, err)
		require.False(t, ok, name)
	}
	_, ok, err := session.LoadTail(afero.NewMemMapFs(), "/missing", nil, nil)
	require.NoError(t, err)
	require.False(t, ok)
}
