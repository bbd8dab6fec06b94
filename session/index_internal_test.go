package session

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/racetest"
)

// indexEverything makes every session have an index file, with small pages, for one test.
func indexEverything(t *testing.T) {
	t.Helper()
	from, bits, spines := indexFrom, pageBits, spineFrom
	indexFrom, pageBits, spineFrom = 0, 4, 0
	t.Cleanup(func() { indexFrom, pageBits, spineFrom = from, bits, spines })
}

// viewOf is all that is known of a document.
func viewOf(t *testing.T, d *Document, leaf Leaf) map[string]any {
	t.Helper()
	view := map[string]any{
		"title": d.Title(), "dialect": d.dialect, "header": string(d.header.Raw), "size": d.tail.size, "newline": d.tail.newline,
		"linesRead": d.tail.lines, "values": d.values, "found": d.Problems(), "end": string(d.end), "twice": d.tree.twice,
	}
	keep := func(name string) func(value any, err error) {
		return func(value any, err error) {
			require.NoError(t, err)
			view[name] = value
		}
	}
	ctx, problems, err := BuildContext(d, leaf, nil)
	keep("context")(ctx, err)
	view["problems"] = problems
	state, err := d.ContextState(leaf)
	keep("state")(state, err)
	tally, err := d.Tally()
	keep("tally")(tally, err)
	text, err := d.Description()
	keep("description")(text, err)
	at, err := d.LastActivity()
	keep("activity")(at, err)
	labels, err := d.Labels()
	keep("labels")(labels, err)
	view["shape"] = d.Shape(d.Len())
	roles, first := map[string]int{}, -1
	path, _ := d.tree.path(d.tree.resolve(leaf))
	for _, i := range path {
		if role := d.tree.role(i); role != "" {
			roles[role]++
			if role == "user" && first < 0 {
				first = i
			}
		}
	}
	gotRoles, gotFirst := d.PathCounts(leaf)
	require.Equal(t, roles, gotRoles)
	require.Equal(t, first, gotFirst)
	var lines []string
	var ords []int32
	for i := range d.Len() {
		raw, err := d.raw(i)
		require.NoError(t, err)
		found, ok := d.tree.find(d.tree.id(i))
		lines = append(lines, fmt.Sprintf("%s %q %q %q %q %d %v %v %d %v", raw, d.tree.id(i), d.tree.parentID(i), d.tree.typ(i), d.tree.role(i),
			d.tree.parentOf(i), d.tree.hidden(i), d.tree.shadowed(i), found, ok))
		ords = append(ords, d.tree.slots.at(i).ord)
	}
	view["lines"], view["ords"] = lines, ords
	view["recent"] = recentOf(t, d, leaf)
	view["stamp"], _ = d.Stamp(d.Len(), -1)
	return view
}

// recentOf is what the callers of [Document.Recent] look for.
func recentOf(t *testing.T, d *Document, leaf Leaf) map[string][]int {
	t.Helper()
	path, _ := d.tree.path(d.tree.resolve(leaf))
	found, last := map[string][]int{}, len(path)
	newest := func(of string, i int) {
		if found[of] == nil {
			found[of] = []int{i}
		}
	}
	for i, typ := range d.Recent(leaf) {
		require.Equal(t, d.tree.typ(i), typ)
		at := slices.Index(path[:last], i)
		require.GreaterOrEqual(t, at, 0, "each entry of the path once, the newest first")
		last = at
		e, err := d.Entry(i)
		require.NoError(t, err)
		switch typ {
		case TypeModeChange:
			found["modes"] = append(found["modes"], i)
		case typeServiceTier, TypeSessionInit, TypeCompaction:
			newest(string(typ), i)
		case TypeModelChange:
			if m := e.AsModelChange(); m.Model != "" {
				newest("model of "+m.Role, i)
			}
		case TypeCustomMessage:
			if e.AsCustom().CustomType == injectionType {
				found["rules"] = append(found["rules"], i)
			}
		case TypeMessage:
			switch role := d.tree.role(i); role {
			case "system":
				found["systems"] = append(found["systems"], i)
			case "user", "assistant":
				newest(role, i)
			}
		}
	}
	return found
}

// damage changes a file at random.
func damage(t *testing.T, r *rand.Rand, path string) {
	t.Helper()
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	switch at := r.IntN(len(b)); r.IntN(4) {
	case 0:
		b[at] ^= byte(1 + r.IntN(255))
	case 1:
		b = b[:at]
	case 2:
		b = append(b[:at:at], b[min(len(b), at+r.IntN(40)):]...)
	case 3:
		for i := at; i < min(len(b), at+300); i++ {
			b[i] = byte(r.Uint32())
		}
	}
	require.NoError(t, os.WriteFile(path, b, 0o600))
}

// rewrite changes the content of a session in a way that is no append.
func rewrite(r *rand.Rand, content []byte) []byte {
	switch r.IntN(8) {
	case 0: // omp changes the title in place
		return bytes.Replace(content, []byte(`"title":"One"`), []byte(`"title":"Two"`), 1)
	case 1: // lines are removed
		if lines := bytes.SplitAfter(content, []byte("\n")); len(lines) > 40 {
			return bytes.Join(append(lines[:10:10], lines[20:]...), nil)
		}
	case 2: // a line is edited where it is
		if at := bytes.LastIndex(content[:r.IntN(len(content))], []byte(`"input":`)); at > 0 {
			content[at+8] = byte('0' + r.IntN(9) + 1)
		}
	}
	return content
}

// replaceOrWrite writes content to a file in one of the ways in which programs do.
func replaceOrWrite(t *testing.T, r *rand.Rand, path string, content []byte) {
	t.Helper()
	switch r.IntN(3) {
	case 0: // truncated, and written again
		require.NoError(t, os.WriteFile(path, content, 0o600))
	case 1: // another file
		require.NoError(t, os.WriteFile(path+".new", content, 0o600))
		require.NoError(t, os.Rename(path+".new", path))
	default: // written over
		f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o600)
		require.NoError(t, err)
		_, err = f.WriteAt(content, 0)
		require.NoError(t, err)
		require.NoError(t, f.Truncate(int64(len(content))))
		require.NoError(t, f.Close())
	}
	if r.IntN(2) == 0 { // it rested
		at := time.Now().Add(-time.Hour)
		require.NoError(t, os.Chtimes(path, at, at))
	}
}

// Sessions of all dialects grow, and are rewritten and replaced, and so are their index files, which get
// damaged: what a document says is always what one says that was read whole.
func TestAnIndexFileGivesWhatTheWholeFileGives(t *testing.T) {
	racetest.Large(t)
	indexEverything(t)
	cached, whole, sessions := 0, 0, uint64(60)
	if os.Getenv("XCSH_SOAK") != "" {
		sessions = 1000
	}
	for seed := range sessions {
		r := rand.New(rand.NewPCG(seed, 1))
		dir := t.TempDir()
		// The clock is ahead, so that files have rested.
		s := NewStore(StoreConfig{Fs: afero.NewOsFs(), IndexDir: filepath.Join(dir, "index"), Now: func() time.Time { return time.Now().Add(time.Duration(seed%2) * time.Minute) }})
		path := filepath.Join(dir, "s.jsonl")
		m := &lineMaker{r: r, d: Dialect(seed % 3), twice: seed%5 == 0}
		content := []byte(m.head())
		for step := range 12 {
			var more bytes.Buffer
			for range r.IntN(120) {
				more.WriteString(m.line() + "\n")
			}
			if r.IntN(8) == 0 {
				more.WriteString(m.line()) // without a newline
			}
			content = rewrite(r, append(content, more.Bytes()...))
			if r.IntN(6) > 0 {
				replaceOrWrite(t, r, path, content)
			} else if _, err := os.Stat(path); err != nil {
				replaceOrWrite(t, r, path, content)
			}
			if found, _ := filepath.Glob(filepath.Join(dir, "index", "*.*")); len(found) > 0 && r.IntN(4) == 0 {
				damage(t, r, found[r.IntN(len(found))])
			}
			got, err := s.Load(path)
			require.NoError(t, err)
			want, err := load(s.Fs, path, nil)
			require.NoError(t, err)
			for range 2 {
				leaf := AtLast()
				if want.Len() > 0 && r.IntN(2) == 0 {
					leaf = atPlace(r.IntN(want.Len()))
				}
				spineFrom = 1 << 30
				wanted := viewOf(t, want, leaf)
				spineFrom = 0
				require.Equal(t, wanted, viewOf(t, got, leaf), "seed %d, step %d", seed, step)
			}
			if got.indexed > 0 {
				cached++
			} else {
				whole++
			}
			require.NoError(t, got.Close())
			require.NoError(t, want.Close())
		}
	}
	t.Log("by means of an index file", cached, "whole", whole)
	require.Greater(t, cached, int(3*sessions), "index files are used")
	require.Greater(t, whole, int(sessions))
}
