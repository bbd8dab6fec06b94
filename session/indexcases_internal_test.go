package session

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/racetest"
	"github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
	"github.com/xcsh-ls/xcsh-ls/session/internal/indexfile"
)

// compareAll is [StoreConfig.CompareFirst] of the stores of tests.
var compareAll int64

// indexed is a session with its index files in a directory of a test.
type indexed struct {
	*testing.T
	fs    afero.Fs
	dir   string
	path  string
	store *Store
}

// newIndexed writes a session of n entries, which has rested, and its index file.
func newIndexed(t *testing.T, fs afero.Fs, d Dialect, n int) *indexed {
	t.Helper()
	x := &indexed{T: t, fs: fs, dir: t.TempDir()}
	x.path = filepath.Join(x.dir, "s.jsonl")
	x.store = x.open(fs)
	m := &lineMaker{r: rand.New(rand.NewPCG(7, uint64(d))), d: d}
	content := m.head()
	for m.n < n {
		content += m.line() + "\n"
	}
	require.NoError(t, fs.MkdirAll(x.dir, 0o700))
	require.NoError(t, afero.WriteFile(fs, x.path, []byte(content), 0o600))
	require.Zero(t, x.equal(x.store).indexed, "read whole")
	return x
}

// open returns a store over fs, whose clock is ahead, so that files have rested.
func (x *indexed) open(fs afero.Fs) *Store {
	return NewStore(StoreConfig{Fs: fs, IndexDir: filepath.Join(x.dir, "index"), CompareFirst: compareAll, Now: func() time.Time { return time.Now().Add(time.Minute) }})
}

// equal loads the session with a store, requires what a whole reading gives, and returns the closed document.
func (x *indexed) equal(s *Store) *Document {
	x.Helper()
	got, err := s.Load(x.path)
	require.NoError(x, err)
	want, err := load(x.fs, x.path, nil)
	require.NoError(x, err)
	require.Equal(x, viewOf(x.T, want, AtLast()), viewOf(x.T, got, AtLast()))
	require.NoError(x, got.Close())
	require.NoError(x, want.Close())
	return got
}

// file returns the path of the index file with an ending.
func (x *indexed) file(end string) string {
	return filepath.Join(x.dir, "index", indexfile.Name(x.path)+end)
}

// write writes over the session.
func (x *indexed) write(change func(content []byte) []byte) {
	x.Helper()
	content, err := afero.ReadFile(x.fs, x.path)
	require.NoError(x, err)
	f, err := x.fs.OpenFile(x.path, os.O_WRONLY, 0)
	require.NoError(x, err)
	content = change(content)
	_, err = f.Write(content)
	require.NoError(x, err)
	require.NoError(x, f.Truncate(int64(len(content))))
	require.NoError(x, f.Close())
}

func TestAnUnchangedSessionIsNotReadAgain(t *testing.T) {
	indexEverything(t)
	counting := &readCounter{Fs: afero.NewOsFs()}
	x := newIndexed(t, counting, Xcsh, 2000)
	counting.on, counting.bytes = x.path, 0
	d, err := x.store.Load(x.path)
	require.NoError(t, err)
	state, err := d.ContextState(AtLast())
	require.NoError(t, err)
	_, err = d.Tally()
	require.NoError(t, err)
	require.NoError(t, d.Close())
	require.Positive(t, state.MessageCount)
	require.Less(t, counting.bytes, 3*int64(endBytes), "the head and the end, not %d bytes", d.tail.size)
}

// readCounter counts the bytes read of one file.
type readCounter struct {
	afero.Fs
	on    string
	bytes int64
}

func (c *readCounter) Open(name string) (afero.File, error) {
	f, err := c.Fs.Open(name)
	if err != nil || name != c.on {
		return f, err
	}
	return &countedFile{f, c}, nil
}

type countedFile struct {
	afero.File
	c *readCounter
}

func (f *countedFile) Read(b []byte) (int, error) {
	n, err := f.File.Read(b)
	f.c.bytes += int64(n)
	return n, err
}

func (f *countedFile) ReadAt(b []byte, off int64) (int, error) {
	n, err := f.File.ReadAt(b, off)
	f.c.bytes += int64(n)
	return n, err
}

// One byte of every kind of line changes in place, and the times are set back.
func TestAChangeInPlaceIsNoticed(t *testing.T) {
	indexEverything(t)
	for _, d := range []Dialect{Xcsh, Pi, Omp} {
		x := newIndexed(t, afero.NewOsFs(), d, 300)
		info, err := os.Stat(x.path)
		require.NoError(t, err)
		content, err := os.ReadFile(x.path)
		require.NoError(t, err)
		seen := map[string]bool{}
		off := 0
		for _, line := range bytes.SplitAfter(content, []byte("\n")) {
			kind, _, _ := strings.Cut(string(line), `","`)
			places := digits(line)
			for _, at := range places {
				if seen[kind] {
					break
				}
				x.write(func(content []byte) []byte {
					content[off+at] = '0' + (content[off+at]-'0'+1)%10
					return content
				})
				require.NoError(t, os.Chtimes(x.path, info.ModTime(), info.ModTime()))
				x.equal(x.store)
			}
			seen[kind] = seen[kind] || len(places) > 0
			off += len(line)
		}
		require.Greater(t, len(seen), 8)
	}
}

// digits returns the places of the last digits in a line, of its id, and of its usage.
func digits(line []byte) (at []int) {
	for _, before := range []string{`"id":"0`, `"input":`} {
		if i := bytes.Index(line, []byte(before)); i >= 0 {
			at = append(at, i+len(before))
		}
	}
	if i := bytes.LastIndexAny(line, "0123456789"); i >= 0 {
		at = append(at, i)
	}
	return slices.DeleteFunc(at, func(i int) bool { return line[i] < '0' || line[i] > '9' })
}

// A log over an index file does what one over a session that was read whole does.
func TestALogOverAnIndexFile(t *testing.T) {
	indexEverything(t)
	for seed := range uint64(12) {
		r := rand.New(rand.NewPCG(seed, 3))
		m := &lineMaker{r: r, d: Dialect(seed % 3), twice: seed%4 == 0}
		content := m.head()
		for range 200 {
			content += m.line() + "\n"
		}
		var stores [2]*Store
		var paths [2]string
		for i := range stores {
			dir := t.TempDir()
			paths[i] = filepath.Join(dir, "s.jsonl")
			require.NoError(t, os.WriteFile(paths[i], []byte(content), 0o600))
			var n int64
			c := StoreConfig{Fs: afero.NewOsFs(), Random: rand.NewChaCha8([32]byte{byte(seed)}), Now: func() time.Time {
				n++
				return time.Date(2030, 1, 1, 0, 0, int(n/1000), 0, time.UTC)
			}, DirFor: func(string) (string, error) { return dir, nil }}
			if i == 0 {
				c.IndexDir = filepath.Join(dir, "index")
			}
			stores[i] = NewStore(c)
		}
		for range 6 {
			r2 := r.Uint64()
			var views [2]map[string]any
			for i, s := range stores {
				l, err := s.Open(paths[i])
				require.NoError(t, err)
				use(t, l, paths[i], rand.New(rand.NewPCG(r2, 0)))
				views[i] = logView(t, l)
				require.NoError(t, l.Close())
			}
			require.Equal(t, views[1], views[0], "seed %d", seed)
			a, err := os.ReadFile(paths[0])
			require.NoError(t, err)
			b, err := os.ReadFile(paths[1])
			require.NoError(t, err)
			require.Equal(t, string(b), string(a))
		}
	}
}

// use makes random changes to a session.
func use(t *testing.T, l *Log, path string, r *rand.Rand) {
	t.Helper()
	for range 8 {
		at := l.doc.tree.id(r.IntN(l.doc.Len()))
		switch r.IntN(6) {
		case 0:
			if at != "" {
				require.NoError(t, l.Branch(at))
			}
		case 1:
			if at != "" {
				_, err := l.SetLabel(at, fmt.Sprint("label ", r.IntN(5)))
				require.NoError(t, err)
			}
		case 2: // another program appends
			f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0o600)
			require.NoError(t, err)
			_, err = fmt.Fprintf(f, `{"type":"message","id":"%08x","parentId":%q,"timestamp":"2026-01-01T00:00:00.000Z","message":{"role":"user","content":"foreign"}}`+"\n", r.Uint32(), at)
			require.NoError(t, err)
			require.NoError(t, f.Close())
		case 3: // another program writes it again
			content, err := os.ReadFile(path)
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(path+".new", content, 0o600))
			require.NoError(t, os.Rename(path+".new", path))
		default:
			_, err := l.Append(DraftCustom("test", fmt.Appendf(nil, `{"n":%d}`, r.IntN(9))))
			require.NoError(t, err)
		}
	}
}

// logView is all that is known of a live session.
func logView(t *testing.T, l *Log) map[string]any {
	t.Helper()
	view := viewOf(t, l.doc, atPlace(l.leaf))
	for _, name := range notOfALog {
		delete(view, name)
	}
	view["leaf"], view["foreign"] = l.leaf, l.foreign
	return view
}

// What is known of a live session at leaves other than the newest, after changes of its own and of other programs, is what
// reading its file whole yields.
func TestOtherLeavesOfALogOverAnIndexFile(t *testing.T) {
	racetest.Large(t)
	indexEverything(t)
	sessions := uint64(12)
	if os.Getenv("XCSH_SOAK") != "" {
		sessions = 300
	}
	indexed := 0
	for seed := range sessions {
		r := rand.New(rand.NewPCG(seed, 4))
		m := &lineMaker{r: r, d: Dialect(seed % 3), twice: seed%4 == 0}
		content := m.head()
		for range 20 + r.IntN(200) {
			content += m.line() + "\n"
		}
		dir := t.TempDir()
		path := filepath.Join(dir, "s.jsonl")
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
		s := NewStore(StoreConfig{Fs: afero.NewOsFs(), IndexDir: filepath.Join(dir, "index"), Now: func() time.Time { return time.Now().Add(time.Minute) }})
		for range 6 {
			l, err := s.Open(path)
			require.NoError(t, err)
			if l.doc.indexed > 0 {
				indexed++
			}
			for range 3 {
				use(t, l, path, r)
				_, err := l.Refresh()
				require.NoError(t, err)
				requireWhole(t, l, path, r, seed)
			}
			require.NoError(t, l.Close())
		}
	}
	require.Greater(t, indexed, int(3*sessions), "index files are used")
}

// requireWhole requires that what is known of a live session is what reading its file whole yields, at some leaves.
func requireWhole(t *testing.T, l *Log, path string, r *rand.Rand, seed uint64) {
	t.Helper()
	whole, err := load(l.store.Fs, path, nil)
	require.NoError(t, err)
	require.Equal(t, whole.Len(), l.doc.Len())
	for range 3 {
		leaf := atPlace(r.IntN(whole.Len()))
		spines := spineFrom
		spineFrom = 1 << 30
		want := viewOf(t, whole, leaf)
		spineFrom = spines
		got := viewOf(t, l.doc, leaf)
		for _, name := range notOfALog {
			delete(want, name)
			delete(got, name)
		}
		require.Equal(t, want, got, "seed %d", seed)
	}
	require.NoError(t, whole.Close())
}

// notOfALog are parts of a view that differ by whether lines were adopted or read with the file, which the number decides
// that the system gives to a new file.
var notOfALog = []string{"ords", "end", "values", "linesRead", "found", "stamp"}

// A fork has the index of what it was copied from, and leaves an index file.
func TestAForkHasAnIndexFile(t *testing.T) {
	indexEverything(t)
	small := smallFile
	smallFile = 0
	defer func() { smallFile = small }()
	for _, d := range []Dialect{Xcsh, Pi, Omp} {
		x := newIndexed(t, afero.NewOsFs(), d, 1)
		m := &lineMaker{r: rand.New(rand.NewPCG(9, 9)), d: d}
		content := m.head()
		for m.n < 400 {
			if line := m.line(); strings.HasPrefix(line, `{"type"`) && strings.HasSuffix(line, "}") && !strings.Contains(line, `"gone"`) {
				content += line + "\n"
			}
		}
		require.NoError(t, os.WriteFile(x.path, []byte(content), 0o600))
		x.store.DirFor = func(string) (string, error) { return x.dir, nil }
		for range 2 { // read whole, then by means of the index file
			l, err := x.store.Open(x.path)
			require.NoError(t, err)
			require.Empty(t, l.doc.problems)
			_, err = l.Append(DraftCustom("test", []byte(`{}`)))
			require.NoError(t, err)
			fork, err := x.store.Fork(l)
			require.NoError(t, err)
			require.FileExists(t, filepath.Join(x.dir, "index", indexfile.Name(fork.path)+baseEnd))
			y := *x
			y.path = fork.path
			require.NoError(t, fork.Close())
			require.Positive(t, y.equal(x.store).indexed, "by means of its index file")
			require.NoError(t, l.Close())
		}
	}
}

// Whatever fails while an index file is read or written, the session is read, and no file stays behind.
func TestFaultsOfAnIndexFile(t *testing.T) {
	indexEverything(t)
	for _, mode := range []sessiontest.Mode{sessiontest.Once, sessiontest.Dead, sessiontest.Short} {
		at := 1
		for fired := true; fired; at++ {
			fired = false
			x := newIndexed(t, afero.NewOsFs(), Xcsh, 100)
			for _, change := range []func(){
				func() {}, // unchanged
				func() {
					x.write(func(b []byte) []byte { return append(b, `{"type":"custom","id":"99999999","parentId":null}`+"\n"...) })
				},
				func() { require.NoError(t, os.RemoveAll(filepath.Join(x.dir, "index"))) },
			} {
				change()
				fs := &sessiontest.FaultFs{Fs: x.fs, At: at, Mode: mode, Reads: true, On: func(_, name string) bool { return strings.HasPrefix(name, filepath.Join(x.dir, "index")) }}
				x.equal(x.open(fs))
				if mode != sessiontest.Dead {
					left, err := filepath.Glob(filepath.Join(x.dir, "index", "*.tmp"))
					require.NoError(t, err)
					require.Empty(t, left, "at %d", at)
				}
				fired = fired || fs.Fired()
			}
			x.equal(x.store)
		}
		require.Greater(t, at, 20)
	}
}

// Several processes use the index files of a session while another one appends to it.
func TestConcurrentIndexFiles(t *testing.T) {
	indexEverything(t)
	x := newIndexed(t, afero.NewOsFs(), Xcsh, 100)
	var work sync.WaitGroup
	for p := range 4 {
		work.Go(func() {
			s := x.open(afero.NewOsFs())
			for n := range 30 {
				if p == 0 {
					f, err := os.OpenFile(x.path, os.O_APPEND|os.O_WRONLY, 0o600)
					if err == nil {
						_, _ = fmt.Fprintf(f, `{"type":"message","id":"%08x","parentId":null,"timestamp":"2026-01-01T00:00:00.000Z","message":{"role":"user","content":"%s"}}`+"\n",
							0xF0000000+n, strings.Repeat("x", 2000))
						_ = f.Close()
					}
				}
				d, err := s.Load(x.path)
				if err != nil {
					t.Error(err)
					return
				}
				for i := range d.Len() {
					if e, err := d.Entry(i); err != nil || !bytes.Contains(e.Raw, []byte(`"`+e.ID+`"`)) && e.ID != "" {
						t.Errorf("entry %d: %v %s", i, err, e.Raw)
					}
				}
				_ = d.Close()
			}
		})
	}
	work.Wait()
	x.equal(x.store)
}

// A value that further lines may continue is not known to an index.
func TestAnOpenValueHasNoIndexFile(t *testing.T) {
	indexEverything(t)
	x := newIndexed(t, afero.NewOsFs(), Xcsh, 50)
	add := func(text string) { x.write(func(b []byte) []byte { return append(b, text+"\n"...) }) }
	add(`{"type":"message","id":"aaaaaaaa",`)
	x.equal(x.store)
	add(`"parentId":null,"message":{"role":"user","content":"hi"}}`)
	x.equal(x.store)
}

// An extension continues one base only.
func TestAnExtensionOfAnotherBase(t *testing.T) {
	indexEverything(t)
	x := newIndexed(t, afero.NewOsFs(), Xcsh, 100)
	x.write(func(b []byte) []byte {
		return append(b, `{"type":"label","id":"aaaaaaaa","parentId":null,"targetId":"x","label":"y"}`+"\n"...)
	})
	x.equal(x.store)
	old, err := os.ReadFile(x.file(extensionEnd))
	require.NoError(t, err)
	x.write(func(b []byte) []byte { return b[:bytes.LastIndexByte(b[:len(b)-1], '\n')+1] })
	x.equal(x.store)
	require.NoFileExists(t, x.file(extensionEnd))
	require.NoError(t, os.WriteFile(x.file(extensionEnd), old, 0o600))
	r := &indexReader{store: x.store, at: x.store.indexAt(x.path)}
	require.True(t, r.openIndex())
	require.Empty(t, r.late)
	require.NoError(t, r.base.Close())
}

// If the index file is damaged and the session file is changed while a document is open, nothing is read by means
// of the pages that are lost.
func TestBothFilesChangeWhileADocumentIsOpen(t *testing.T) {
	indexEverything(t)
	x := newIndexed(t, afero.NewOsFs(), Xcsh, 300)
	d, err := x.store.Load(x.path)
	require.NoError(t, err)
	require.Positive(t, d.indexed)
	b, err := os.ReadFile(x.file(baseEnd))
	require.NoError(t, err)
	for i := len(b) / 3; i < len(b); i++ {
		b[i] ^= 0x55
	}
	f, err := os.OpenFile(x.file(baseEnd), os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = f.Write(b)
	require.NoError(t, err)
	require.NoError(t, f.Close())
	x.write(func(b []byte) []byte { return bytes.ReplaceAll(b, []byte(`"id":"0`), []byte(`"id":"1`)) })
	for i := range d.Len() {
		if _, err = d.Entry(i); err != nil {
			break
		}
	}
	require.ErrorContains(t, err, "it was changed while it was open")
	_, _, err = BuildContext(d, AtLast(), nil)
	require.ErrorContains(t, err, "it was changed while it was open")
	_, err = d.ContextState(atPlace(d.Len() / 2))
	require.ErrorContains(t, err, "it was changed while it was open")
	require.NoError(t, d.Close())
	require.NoFileExists(t, x.file(baseEnd), "it is of no use")
	x.equal(x.store)
}

// Many readers of one document need pages at the same time, of index files that may be damaged.
func TestConcurrentPageFaults(t *testing.T) {
	indexEverything(t)
	for seed := range uint64(6) {
		x := newIndexed(t, afero.NewOsFs(), Dialect(seed%3), 300)
		x.write(func(b []byte) []byte {
			return append(b, `{"type":"label","id":"aaaaaaaa","parentId":null,"targetId":"x","label":"y"}`+"\n"...)
		})
		x.equal(x.store)
		require.FileExists(t, x.file(extensionEnd))
		want, err := load(x.fs, x.path, nil)
		require.NoError(t, err)
		shape := want.Shape(want.Len())
		if r := rand.New(rand.NewPCG(seed, 1)); seed > 1 {
			damage(t, r, x.file([]string{baseEnd, extensionEnd}[seed%2]))
		}
		d, err := x.store.Load(x.path)
		require.NoError(t, err)
		var work sync.WaitGroup
		for p := range 8 {
			work.Go(func() { readAtOnce(t, d, shape, rand.New(rand.NewPCG(uint64(p), 5))) })
		}
		work.Wait()
		require.NoError(t, d.Close())
		require.NoError(t, want.Close())
	}
}

// readAtOnce is one of several readers of a document.
func readAtOnce(t *testing.T, d *Document, shape []int32, r *rand.Rand) {
	for n := range 150 {
		i := r.IntN(d.Len())
		if place, ok := d.tree.find(d.tree.id(i)); d.tree.id(i) != "" && (!ok || place != i) {
			t.Errorf("entry %d is found at %d", i, place)
		}
		if e, err := d.Entry(i); err != nil || !bytes.Contains(e.Raw, []byte(`"`+e.ID+`"`)) && e.ID != "" {
			t.Errorf("entry %d: %v", i, err)
		}
		if _, err := d.ContextState(atPlace(i)); err != nil {
			t.Error(err)
		}
		if n%50 == 0 && !slices.Equal(shape, d.Shape(d.Len())) {
			t.Error("the tree is another one")
		}
	}
}

// A file system without numbers of files and times of changes, and one whose clock has two seconds.
func TestIndexFilesOfPoorFileSystems(t *testing.T) {
	indexEverything(t)
	for name, fs := range map[string]afero.Fs{"memory": afero.NewMemMapFs(), "two seconds": coarse{afero.NewOsFs()}} {
		x := newIndexed(t, fs, Pi, 200)
		require.Positive(t, x.equal(x.store).indexed, "%s: compared by content", name)
		x.write(func(b []byte) []byte {
			return bytes.Replace(b, []byte(`"input":`), []byte(`"inpuT":`), 1)
		})
		x.equal(x.store)
		x.write(func(b []byte) []byte {
			return append(b, `{"type":"label","id":"aaaaaaaa","parentId":null,"targetId":"x","label":"y"}`+"\n"...)
		})
		x.equal(x.store)
		require.Positive(t, x.equal(x.store).indexed, name)
	}
}

// coarse is a file system that tells times to two seconds and nothing else.
type coarse struct{ afero.Fs }

func (c coarse) Stat(name string) (os.FileInfo, error) {
	info, err := c.Fs.Stat(name)
	if err != nil {
		return nil, err
	}
	return coarseInfo{info}, nil
}

func (c coarse) Open(name string) (afero.File, error) {
	f, err := c.Fs.Open(name)
	if err != nil {
		return nil, err
	}
	return coarseFile{f}, nil
}

type coarseFile struct{ afero.File }

func (f coarseFile) Stat() (os.FileInfo, error) {
	info, err := f.File.Stat()
	if err != nil {
		return nil, err
	}
	return coarseInfo{info}, nil
}

type coarseInfo struct{ os.FileInfo }

func (i coarseInfo) ModTime() time.Time { return i.FileInfo.ModTime().Truncate(2 * time.Second) }
func (coarseInfo) Sys() any             { return nil }

// ticking is a file system that has numbers of files, and a clock of two seconds for both times.
type ticking struct {
	coarse
	at *time.Time // of the last change of any file
}

type tickingInfo struct {
	os.FileInfo
	at time.Time
}

func (i tickingInfo) ModTime() time.Time { return i.at }
func (i tickingInfo) Sys() any           { return tickingNumbers(i.at.UnixNano()) }

// tickingNumbers is what the system says of a file beside its size.
type tickingNumbers int64

func (n tickingNumbers) InodeAndChange() (inode uint64, ctime int64) { return 7, int64(n) }

func (f ticking) info(info os.FileInfo, err error) (os.FileInfo, error) {
	if err != nil {
		return nil, err
	}
	return tickingInfo{info, f.at.Truncate(2 * time.Second)}, nil
}

func (f ticking) Stat(name string) (os.FileInfo, error) { return f.info(f.Fs.Stat(name)) }

func (f ticking) Open(name string) (afero.File, error) {
	file, err := f.Fs.Open(name)
	if err != nil {
		return nil, err
	}
	return tickingFile{file, f}, nil
}

type tickingFile struct {
	afero.File
	fs ticking
}

func (f tickingFile) Stat() (os.FileInfo, error) { return f.fs.info(f.File.Stat()) }

// Two changes within one tick of a coarse clock leave the same stamp. The file counts as unchanged only if it was indexed
// after that tick.
func TestAClockOfTwoSeconds(t *testing.T) {
	indexEverything(t)
	for _, after := range []time.Duration{0, 500 * time.Millisecond, 1999 * time.Millisecond, 2 * time.Second, time.Minute} {
		tick := time.Date(2026, 1, 1, 0, 0, 4, 0, time.UTC)
		at, now := tick, tick.Add(after)
		fs := ticking{coarse{afero.NewOsFs()}, &at}
		x := newIndexed(t, fs, Xcsh, 100)
		x.store = NewStore(StoreConfig{Fs: fs, IndexDir: filepath.Join(x.dir, "index"), CompareFirst: compareAll, Now: func() time.Time { return now }})
		require.NoError(t, os.Remove(x.file(baseEnd))) // it has another time
		x.equal(x.store)
		require.Equal(t, after >= 2*time.Second, x.caseA(), "indexed after %v", after)
		at = now // the next change, as the system sees it
		x.write(func(b []byte) []byte {
			b[middle(b)] ^= 1
			return b
		})
		now = now.Add(time.Hour)
		require.False(t, x.caseA(), "indexed after %v", after)
		x.equal(x.store)
		require.True(t, x.caseA(), "read after it had rested")
	}
}

// Index files of other versions are not used, and neither are other kinds of files in their place.
func TestForeignIndexFiles(t *testing.T) {
	indexEverything(t)
	x := newIndexed(t, afero.NewOsFs(), Xcsh, 100)
	good, err := os.ReadFile(x.file(baseEnd))
	require.NoError(t, err)
	for name, content := range map[string][]byte{
		"older version":    append([]byte("xcsh-ls index 2\n"), good[16:]...),
		"newer version":    append([]byte("xcsh-ls index 4\n"), good[16:]...),
		"empty":            {},
		"a session":        []byte(`{"type":"session"}`),
		"longer":           append(bytes.Clone(good), 0),
		"an enormous head": append(append([]byte("xcsh-ls index 3\n"), 0xFF, 0xFF, 0xFF, 0xFF), good[20:]...),
	} {
		require.NoError(t, os.WriteFile(x.file(baseEnd), content, 0o600))
		require.Zero(t, x.equal(x.store).indexed, name)
		require.Positive(t, x.equal(x.store).indexed, "%s: a new one was written", name)
	}
	require.NoError(t, os.Remove(x.file(baseEnd)))
	require.NoError(t, os.Mkdir(x.file(baseEnd), 0o700))
	x.equal(x.store)
	other := *x
	other.path = filepath.Join(x.dir, "other.jsonl")
	content, err := os.ReadFile(x.path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(other.path, content, 0o600))
	require.NoError(t, os.WriteFile(other.file(baseEnd), good, 0o600))
	require.Zero(t, other.equal(x.store).indexed, "that of another path")
}
