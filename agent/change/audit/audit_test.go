package audit_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/change"
	"github.com/xcsh-ls/xcsh-ls/agent/change/audit"
	"github.com/xcsh-ls/xcsh-ls/agent/change/contents"
)

const dir = "/s/changes"

// world is a book with its contents.
type world struct {
	fs    afero.Fs
	store *contents.Store
	book  *change.Book
	seq   int
}

func newWorld() *world {
	fs := afero.NewMemMapFs()
	return &world{fs: fs, store: contents.Open(contents.Options{Fs: fs, Dir: dir}), book: change.NewBook()}
}

func (w *world) put(t *testing.T, text string) change.State {
	t.Helper()
	sha, err := w.store.Put([]byte(text))
	require.NoError(t, err)
	return change.State{Kind: change.Regular, SHA256: sha, Mode: 0o600, Size: int64(len(text))}
}

func (w *world) record(id string, r change.Record) {
	w.seq++
	r.ID, r.Seq, r.V, r.Root = id, w.seq, change.Version, "file:///w"
	w.book.Add(&r)
}

func edit(path string, before, after change.State) change.Record {
	return change.Record{Tool: "edit", Changes: []change.Change{{Path: path, Before: before, After: &after}}}
}

func (w *world) check(t *testing.T) []audit.Finding {
	t.Helper()
	found, err := audit.Check(t.Context(), w.book, contents.Open(contents.Options{Fs: w.fs, Dir: dir}))
	require.NoError(t, err)
	return found
}

func file(s change.State) string { return dir + "/" + s.SHA256[:2] + "/" + s.SHA256 }

func TestWhatIsWholeHasNoFindings(t *testing.T) {
	t.Parallel()
	w := newWorld()
	require.Empty(t, w.check(t))
	w.record("r1", edit("a", change.State{Kind: change.Absent}, w.put(t, "one")))
	w.record("r2", edit("big", change.State{Kind: change.Large, SHA256: strings.Repeat("ab", 32)}, w.put(t, "two")))
	w.record("r3", change.Record{Changes: []change.Change{{Path: "left out", Before: change.State{Kind: change.Regular, SHA256: strings.Repeat("cd", 32)}}}, Limits: []string{change.LimitBudget}})
	require.Empty(t, w.check(t))
}

func TestFindings(t *testing.T) {
	t.Parallel()
	w := newWorld()
	gone, torn, kept := w.put(t, "gone"), w.put(t, "torn"), w.put(t, "kept")
	w.record("r1", edit("a", gone, torn))
	w.record("r2", edit("b", torn, gone))
	w.book.AddReview(&change.Review{Seq: 9, Root: "file:///w", Kept: []change.Kept{{Path: "c", Before: kept, After: kept}}})
	w.put(t, "of no record")
	w.put(t, "of no record, too")
	newer, err := change.ParseRecord(json.RawMessage(`{"v":99,"changes":7}`), nil)
	require.NoError(t, err)
	newer.ID, newer.Seq = "r9", 9
	w.book.Add(newer)
	require.NoError(t, w.fs.Remove(file(gone)))
	require.NoError(t, w.fs.Remove(file(kept)))
	require.NoError(t, afero.WriteFile(w.fs, file(torn), []byte("half"), 0o600))
	kinds := map[audit.Kind][]string{}
	for _, f := range w.check(t) {
		kinds[f.Kind] = append(kinds[f.Kind], f.Record)
		require.Equal(t, f.Kind != audit.Unnamed, f.Lost, f.Text)
		require.NotContains(t, f.Text, "\n")
	}
	require.ElementsMatch(t, []string{"r1", ""}, kinds[audit.Missing], "each content once, also that of a review")
	require.Equal(t, map[audit.Kind]int{audit.Missing: 2, audit.Damaged: 1, audit.Unnamed: 1, audit.Unknown: 1}, map[audit.Kind]int{
		audit.Missing: len(kinds[audit.Missing]), audit.Damaged: len(kinds[audit.Damaged]), audit.Unnamed: len(kinds[audit.Unnamed]), audit.Unknown: len(kinds[audit.Unknown]),
	})
	require.Equal(t, []string{"r9"}, kinds[audit.Unknown])
}

// A record that did not come to pass needs nothing, but still names its contents.
func TestRecordsThatDidNotComeToPass(t *testing.T) {
	t.Parallel()
	w := newWorld()
	gone := w.put(t, "gone")
	w.record("r1", edit("a", gone, w.put(t, "there")))
	w.record("r2", change.Record{Void: "r1"})
	require.NoError(t, w.fs.Remove(file(gone)))
	require.Empty(t, w.check(t))
}

// However much is wrong, the answer is short.
func TestFindingsAreLimited(t *testing.T) {
	t.Parallel()
	w := newWorld()
	for i := range 300 {
		w.record("r", edit("a", change.State{Kind: change.Regular, SHA256: change.Sum([]byte{byte(i), byte(i >> 8)})}, change.State{Kind: change.Absent}))
	}
	require.Len(t, w.check(t), 100)
}

func TestACheckEnds(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.record("r1", edit("a", w.put(t, "x"), w.put(t, "y")))
	ctx, stop := context.WithCancel(t.Context())
	stop()
	_, err := audit.Check(ctx, w.book, w.store)
	require.ErrorIs(t, err, context.Canceled)
}
