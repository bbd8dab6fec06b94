package session

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/racetest"
	"github.com/xcsh-ls/xcsh-ls/session/internal/filesums"
)

// checked requires that a check by means of the index files says what one of a whole reading says. It returns the problems.
func (x *indexed) checked() []Problem {
	x.Helper()
	want, err := load(x.fs, x.path, nil)
	require.NoError(x, err)
	wanted, err := want.Check(AtLast(), nil)
	require.NoError(x, err)
	require.NoError(x, want.Close())
	got, err := x.store.Load(x.path)
	require.NoError(x, err)
	require.Positive(x, got.indexed, "it comes from an index file")
	for range 2 { // the first one may have removed the index file
		found, err := got.Check(AtLast(), nil)
		require.NoError(x, err)
		require.Equal(x, wanted, found)
	}
	require.NoError(x, got.Close())
	return wanted
}

// An index file that is right stays when a session is checked, whatever the session has.
func TestACheckKeepsAnIndexFileThatIsRight(t *testing.T) {
	racetest.Large(t)
	indexEverything(t)
	for seed := range uint64(30) {
		dialect := Dialect(seed % 3)
		x := newIndexed(t, afero.NewOsFs(), dialect, 150)
		m := &lineMaker{r: rand.New(rand.NewPCG(seed, 4)), d: dialect, twice: seed%5 == 0}
		content := m.head()
		for range 8 {
			for range m.r.IntN(100) {
				content += m.line() + "\n"
			}
			require.NoError(t, os.WriteFile(x.path, []byte(content), 0o600))
			d, err := x.store.Load(x.path) // leaves an index file, or an extension
			require.NoError(t, err)
			require.NoError(t, d.Close())
			if d, err = x.store.Load(x.path); d.indexed == 0 {
				require.NoError(t, errors.Join(err, d.Close()))
				continue // a value may be continued: there is none
			}
			require.NoError(t, d.Close())
			x.checked()
			require.FileExists(t, x.file(baseEnd), "seed %d", seed)
		}
	}
}

// A check finds what is in the session, not what its index file says, and removes an index file that says something else.
// Proves: AB-012
func TestACheckDoesNotBelieveAnIndexFile(t *testing.T) {
	indexEverything(t)
	for name, lie := range map[string]func(d *Document){
		"the truth":      func(*Document) {},
		"no problems":    func(d *Document) { d.scanned.problems, d.scanned.found = nil, nil },
		"more problems":  func(d *Document) { d.report(problemAt(malformedLine, 7, true, "Line 7 is bad.")); d.settle(nil) },
		"another type":   func(d *Document) { d.tree.slots.at(40).typ = typeCodes.code(TypeCompaction) },
		"another role":   func(d *Document) { s := d.tree.slots.at(d.Len() - 1); s.role ^= 1 },
		"another id":     func(d *Document) { d.tree.slots.at(50).id++ },
		"no parent":      func(d *Document) { d.tree.slots.at(60).parentKind = noID },
		"another parent": func(d *Document) { d.tree.slots.at(60).parent++ },
		"a circle": func(d *Document) {
			a, b := d.tree.slots.at(20), d.tree.slots.at(30)
			a.parent, a.parentKind = b.id, b.idKind
			b.parent, b.parentKind = a.id, a.idKind
		},
		"another place":   func(d *Document) { d.tree.slots.at(60).off++ },
		"fewer entries":   func(d *Document) { d.tree.slots.n--; d.tally.counted--; d.outlined.Store(nil); d.spine.Store(nil) },
		"hidden":          func(d *Document) { d.tree.slots.at(33).has |= slotHidden },
		"the usage":       func(d *Document) { d.tally.Usage.Input++ },
		"a role's number": func(d *Document) { d.tally.Roles["user"]++ },
		"an odd type":     func(d *Document) { d.tree.oddTypes = map[int32]Type{3: "odd"} },
		"the dialect":     func(d *Document) { d.marks.omp = !d.marks.omp },
		"lines":           func(d *Document) { d.tail.lines++ },
		"an id twice":     func(d *Document) { d.tree.twice = !d.tree.twice },
		"the table of ids": func(d *Document) {
			cells := d.tree.ids.cells
			for i := range cells {
				if cells[i].place > 1 {
					cells[i].place--
				}
			}
		},
		"the path": func(d *Document) {
			s, ok := d.spineAt(d.Len() - 1)
			require.True(t, ok)
			s.roles["user"]++
		},
		"the context": func(d *Document) {
			o, err := d.outlineAt(d.Len() - 1)
			require.NoError(t, err)
			o.problems = append(o.problems, problemAt(OrphanEntry, 0, true, "The conversation is cut off."))
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, dialect := range []Dialect{Xcsh, Pi, Omp} {
				x := newIndexed(t, afero.NewOsFs(), dialect, 1)
				x.write(func([]byte) []byte { return wellFormed(dialect) })
				d, err := load(x.fs, x.path, nil)
				require.NoError(t, err)
				if d.src.mem != nil {
					d.sums = filesums.Of(d.src.mem, d.headerAt.end)
				}
				d.takeStamp(time.Now().Add(time.Minute))
				lie(d)
				require.NoError(t, d.writeIndex(x.store.indexAt(x.path), true))
				require.NoError(t, d.Close())
				x.checked()
				_, err = os.Stat(x.file(baseEnd))
				require.Equal(t, name == "the truth", err == nil)
				x.equal(x.store)
			}
		})
	}
}

// wellFormed returns a session of one branch, with one line that is not an entry.
func wellFormed(d Dialect) []byte {
	m := &lineMaker{r: rand.New(rand.NewPCG(9, 9)), d: d}
	content := []byte(m.head())
	for m.n < 100 {
		if line := m.line(); strings.HasPrefix(line, `{"type"`) && strings.HasSuffix(line, "}") && !bytes.Contains([]byte(line), []byte(`"gone"`)) {
			content = append(content, line+"\n"...)
		} else {
			m.random().IDs = m.random().IDs[:len(m.random().IDs)-1]
		}
	}
	return append(content, "garbage\n"...)
}

// A session that was changed in place, so that the system shows no change, is checked as it is.
func TestACheckOfASessionThatChangedUnseen(t *testing.T) {
	indexEverything(t)
	x := newIndexed(t, afero.NewOsFs(), Xcsh, 200)
	d, err := x.store.Load(x.path)
	require.NoError(t, err)
	require.Positive(t, d.indexed)
	x.write(func(b []byte) []byte {
		at := bytes.Index(b[len(b)/2:], []byte(`{"type"`)) + len(b)/2
		b[at] = '#'
		return b
	})
	want, err := load(x.fs, x.path, nil)
	require.NoError(t, err)
	wanted, err := want.Check(AtLast(), nil)
	require.NoError(t, err)
	found, err := d.Check(AtLast(), nil)
	require.NoError(t, err)
	require.Equal(t, wanted, found)
	require.NoFileExists(t, x.file(baseEnd))
	require.NoFileExists(t, x.file(extensionEnd))
	require.NoError(t, errors.Join(want.Close(), d.Close()))
}

// A check of a live session knows the entries that are not in the part of the file that was indexed.
func TestACheckOfALiveSessionOverAnIndexFile(t *testing.T) {
	indexEverything(t)
	x := newIndexed(t, afero.NewOsFs(), Xcsh, 100)
	l, err := x.store.Open(x.path)
	require.NoError(t, err)
	require.NotNil(t, l.doc.tree.slots.lazy)
	_, err = l.Append(DraftCustom("test", []byte(`{}`)))
	require.NoError(t, err)
	f, err := os.OpenFile(filepath.Clean(x.path), os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = f.WriteString("garbage\n" + `{"type":"custom","id":"abababab","parentId":"nowhere"}` + "\n")
	require.NoError(t, errors.Join(err, f.Close()))
	_, err = l.Refresh()
	require.NoError(t, err)
	want, err := load(x.fs, x.path, nil)
	require.NoError(t, err)
	require.NoError(t, l.View(func(d *Document, leaf Leaf) error {
		found, err := d.Check(leaf, nil)
		require.NoError(t, err)
		wanted, err := want.Check(leaf, nil)
		require.NoError(t, err)
		kinds := func(list []Problem) (kinds []ProblemKind) {
			for _, p := range list {
				kinds = append(kinds, p.Kind)
			}
			return kinds
		}
		require.Equal(t, kinds(wanted), kinds(found))
		require.Contains(t, kinds(found), malformedLine)
		require.Contains(t, kinds(found), OrphanEntry)
		return nil
	}))
	require.NoError(t, errors.Join(want.Close(), l.Close()))
}

// The limit of index files: none with a negative one, and no more than it allows.
func TestTheLimitOfIndexFiles(t *testing.T) {
	indexEverything(t)
	x := newIndexed(t, afero.NewOsFs(), Xcsh, 100)
	info, err := os.Stat(x.file(baseEnd))
	require.NoError(t, err)
	require.NoError(t, os.RemoveAll(filepath.Join(x.dir, "index")))
	for limit, files := range map[int64]int{-1: 0, 0: 3, info.Size() * 5 / 2: 2} {
		c := x.store.StoreConfig
		c.IndexMax, c.IndexDir = limit, filepath.Join(x.dir, fmt.Sprint("index", limit))
		s := NewStore(c)
		content, err := os.ReadFile(x.path)
		require.NoError(t, err)
		for n := range 3 {
			path := filepath.Join(x.dir, fmt.Sprint(n, ".jsonl"))
			require.NoError(t, os.WriteFile(path, content, 0o600))
			d, err := s.Load(path)
			require.NoError(t, err)
			require.NoError(t, d.Close())
		}
		left, err := filepath.Glob(filepath.Join(c.IndexDir, "*"))
		require.NoError(t, err)
		require.Len(t, left, files, "limit %d", limit)
	}
}
