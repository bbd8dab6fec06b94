package session

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"
)

// A spine that was carried on, also over a compaction or a reset, comes to what a walk over the whole path does.
func TestASpineThatIsCarriedOnIsOneThatIsMade(t *testing.T) {
	indexEverything(t)
	divided := 0
	for seed := range uint64(15) {
		m := &lineMaker{r: rand.New(rand.NewPCG(seed, 7)), d: Dialect(seed % 3)}
		content := m.head()
		for range 200 {
			content += m.line() + "\n"
		}
		fs, path := afero.NewMemMapFs(), "/s.jsonl"
		require.NoError(t, afero.WriteFile(fs, path, []byte(content), 0o600))
		d, err := load(fs, path, nil)
		require.NoError(t, err)
		for leaf := range d.Len() {
			made, isMade := d.makeSpine(leaf)
			before := d.spine.Load()
			got, ok := d.spineAt(leaf)
			require.Equal(t, isMade && !d.tree.twice, ok, "seed %d, entry %d", seed, leaf)
			if !ok {
				continue
			}
			same(t, made, got)
			if carried, ok := d.carry(before, leaf); ok {
				same(t, made, carried)
				if carried.from != before.from {
					divided++
				}
			}
			if leaf%7 > 0 && leaf < d.Len()-1 {
				continue
			}
			ctx, problems, err := BuildContext(d, atPlace(leaf), nil)
			require.NoError(t, err)
			path, _ := d.tree.path(leaf)
			want, wanted, err := buildAlong(d, path, nil, nil)
			require.NoError(t, err)
			require.Equal(t, want, ctx, "seed %d, entry %d", seed, leaf)
			require.Equal(t, wanted, problems)
		}
		require.NoError(t, d.Close())
	}
	require.Greater(t, divided, 20, "compactions and resets are carried over")
}

// same requires what was made of a carried spine, which may have further sparse entries that later ones override.
func same(t *testing.T, made, carried *spine) {
	t.Helper()
	require.Subset(t, carried.sparse, made.sparse)
	next := *carried
	next.sparse = made.sparse
	require.Equal(t, made, &next, "entry %d", made.leaf)
}

// What a request looks for on the path of a long session is found without reading what is before the context, however many
// entries that is.
func TestRecentReadsTheContextOnly(t *testing.T) {
	indexEverything(t)
	read := map[int]int{} // pages of the index
	for _, n := range []int{500, 5000} {
		var content strings.Builder
		content.WriteString((&lineMaker{d: Xcsh}).head())
		parent, kept := "null", ""
		line := func(typ, rest string) {
			id := fmt.Sprintf("%08x", content.Len())
			fmt.Fprintf(&content, `{"type":%q,"id":%q,"parentId":%s,"timestamp":"2026-01-01T00:00:00.000Z",%s}`+"\n", typ, id, parent, rest)
			parent, kept = `"`+id+`"`, id
		}
		for i := range n {
			line("message", `"message":{"role":"user","content":"hello","timestamp":1}`)
			if i%5 == 0 {
				line("model_change", fmt.Sprintf(`"model":"p/m%d"`, i))
				line("custom_message", `"customType":"c","content":"hi","display":true`)
			}
		}
		line("message", `"message":{"role":"assistant","content":[],"timestamp":1}`)
		line("compaction", fmt.Sprintf(`"summary":"s","firstKeptEntryId":%q,"tokensBefore":5`, kept))
		dir := t.TempDir()
		fs := afero.NewOsFs()
		s := NewStore(StoreConfig{Fs: fs, IndexDir: filepath.Join(dir, "index"), Now: func() time.Time { return time.Now().Add(time.Minute) }})
		path := filepath.Join(dir, "s.jsonl")
		require.NoError(t, afero.WriteFile(fs, path, []byte(content.String()), 0o600))
		l, err := s.Open(path)
		require.NoError(t, err)
		require.NoError(t, l.Close())

		l, err = s.Open(path)
		require.NoError(t, err)
		require.NoError(t, l.View(func(d *Document, leaf Leaf) error {
			for i, typ := range d.Recent(leaf) {
				if typ == TypeModelChange || typ == TypeCustomMessage {
					_, err := d.Entry(i)
					require.NoError(t, err)
				}
			}
			read[n] = pagesHeld(d)
			return nil
		}))
		require.NoError(t, l.Close())
	}
	require.Equal(t, read[500], read[5000])
	require.LessOrEqual(t, read[5000], 3)
}

func pagesHeld(d *Document) (n int) {
	for i := range d.tree.slots.lazy.got {
		if d.tree.slots.lazy.got[i].Load() != nil {
			n++
		}
	}
	return n
}

// A tree, its labels and a stamp are made of all pages of an index, and keep none of them but the last.
func TestAWalkOverAnIndexKeepsNoPages(t *testing.T) {
	indexEverything(t)
	var content bytes.Buffer
	content.WriteString((&lineMaker{d: Xcsh}).head())
	for i := range 4000 {
		parent := max(i-1, 1)
		if i%50 == 0 {
			parent = i/2 + 1 // far away
		}
		line := fmt.Sprintf(`{"type":"message","id":"%08x","parentId":"%08x","timestamp":"2026-01-01T00:00:00.000Z","message":{"role":"user","content":"hi","timestamp":1}}`, i+1, parent)
		if i%40 == 0 {
			line = fmt.Sprintf(`{"type":"label","id":"%08x","parentId":"%08x","timestamp":"2026-01-01T00:00:00.000Z","targetId":"%08x","label":"l%d"}`, i+1, parent, parent, i)
		}
		content.WriteString(line + "\n")
	}
	x := newIndexed(t, afero.NewOsFs(), Xcsh, 1)
	require.NoError(t, os.WriteFile(x.path, content.Bytes(), 0o600))
	for range 2 { // whole, then from the index file
		d := x.equal(x.store)
		require.False(t, d.tree.twice)
	}
	d, err := x.store.Load(x.path)
	require.NoError(t, err)
	require.Greater(t, len(d.tree.slots.lazy.got), 200)
	labels, err := d.Labels()
	require.NoError(t, err)
	require.NotEmpty(t, labels)
	_, _ = d.Stamp(d.Len(), -1)
	_, plain := d.plainShape(d.Len())
	require.True(t, plain)
	again, err := d.Labels()
	require.NoError(t, err)
	require.Equal(t, labels, again)
	require.LessOrEqual(t, pagesHeld(d), 1)
	require.NoError(t, d.Close())
}
