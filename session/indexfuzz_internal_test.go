package session

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/session/internal/indexfile"
)

// fuzzed is a session in memory, with the index files that it has.
type fuzzed struct {
	content string
	base    []byte
	ext     []byte // continues base
}

const fuzzedPath = "/s.jsonl"

// name is the path of the index file with an ending.
func (fuzzed) name(end string) string { return "/index/" + indexfile.Name(fuzzedPath) + end }

func newFuzzed(f *testing.F) *fuzzed {
	f.Helper()
	from, bits, spines := indexFrom, pageBits, spineFrom
	indexFrom, pageBits, spineFrom = 0, 4, 0
	f.Cleanup(func() { indexFrom, pageBits, spineFrom = from, bits, spines })
	m := &lineMaker{r: rand.New(rand.NewPCG(7, 7)), d: Xcsh}
	x := &fuzzed{content: m.head()}
	for m.n < 60 {
		x.content += m.line() + "\n"
	}
	s := x.store()
	read := func() {
		d, err := s.Load(fuzzedPath)
		require.NoError(f, err)
		require.NoError(f, d.Close())
	}
	read()
	for m.n < 80 {
		x.content += m.line() + "\n"
	}
	require.NoError(f, afero.WriteFile(s.Fs, fuzzedPath, []byte(x.content), 0o600))
	read()
	var err error
	x.base, err = afero.ReadFile(s.Fs, x.name(baseEnd))
	require.NoError(f, err)
	x.ext, err = afero.ReadFile(s.Fs, x.name(extensionEnd))
	require.NoError(f, err)
	return x
}

func (x *fuzzed) store() *Store {
	fs := afero.NewMemMapFs()
	_ = afero.WriteFile(fs, fuzzedPath, []byte(x.content), 0o600) // it cannot fail in memory
	return NewStore(StoreConfig{Fs: fs, IndexDir: "/index"})
}

// load reads the session by means of index files. Those that are nil are missing.
func (x *fuzzed) load(t *testing.T, base, ext []byte) (*Store, *Document) {
	t.Helper()
	s := x.store()
	for end, content := range map[string][]byte{baseEnd: base, extensionEnd: ext} {
		if content != nil {
			require.NoError(t, afero.WriteFile(s.Fs, x.name(end), content, 0o600))
		}
	}
	d, err := s.Load(fuzzedPath)
	require.NoError(t, err)
	return s, d
}

// requireEqual requires what a whole reading gives.
func (x *fuzzed) requireEqual(t *testing.T, base, ext []byte) {
	t.Helper()
	s, got := x.load(t, base, ext)
	want, err := load(s.Fs, fuzzedPath, nil)
	require.NoError(t, err)
	require.Equal(t, viewOf(t, want, AtLast()), viewOf(t, got, AtLast()))
	require.NoError(t, got.Close())
}

// use reads everything by means of index files that have the right checksums and wrong content. That may fail.
func (x *fuzzed) use(t *testing.T, base, ext []byte) {
	t.Helper()
	_, d := x.load(t, base, ext)
	_, _, _ = BuildContext(d, AtLast(), nil)
	_, _ = d.ContextState(AtLast())
	_, _ = d.Tally()
	_, _ = d.Labels()
	_ = d.Shape(d.Len())
	_, _ = d.PathCounts(AtLast())
	for i := range d.Len() {
		_, _ = d.Entry(i)
		_ = d.tree.parentOf(i)
		_, _ = d.tree.find(d.tree.id(i))
	}
	for i := range d.Recent(AtLast()) {
		_ = d.tree.id(i)
	}
	require.NoError(t, d.Close())
}

// Any bytes may be in place of the base.
func FuzzIndexFile(f *testing.F) {
	x := newFuzzed(f)
	f.Add(x.base, true)
	for at := 30; at < len(x.base); at += 97 {
		changed := bytes.Clone(x.base)
		changed[at] ^= 0x41
		f.Add(changed, true)
		f.Add(changed, false)
	}
	f.Fuzz(func(t *testing.T, b []byte, sums bool) {
		if sums { // so that what is behind the checksums is reached
			x.use(t, withSums(b), nil)
		} else {
			x.requireEqual(t, b, nil)
		}
	})
}

// Any bytes may be in place of the extension.
func FuzzIndexExtension(f *testing.F) {
	x := newFuzzed(f)
	f.Add(x.ext, true)
	for at := 30; at < len(x.ext); at += 37 {
		changed := bytes.Clone(x.ext)
		changed[at] ^= 0x41
		f.Add(changed, true)
		f.Add(changed, false)
	}
	f.Fuzz(func(t *testing.T, b []byte, sums bool) {
		if sums {
			x.use(t, x.base, withSums(b))
		} else {
			x.requireEqual(t, x.base, b)
		}
	})
}

// Slots and cells of the table of ids may be any, with checksums that fit them.
func FuzzIndexSections(f *testing.F) {
	x := newFuzzed(f)
	for at := range uint16(40) {
		f.Add(at*59, []byte{0xFF, 0xFF, 0xFF, 0x7F}, at%4 == 0)
		f.Add(at*83, []byte{1, 0, 0, 0, 0, 0, 0, 0x80}, at%4 == 1)
	}
	f.Fuzz(func(t *testing.T, at uint16, with []byte, extension bool) {
		base, ext := bytes.Clone(x.base), bytes.Clone(x.ext)
		if extension {
			overwrite(ext, int(at), with)
		} else {
			overwrite(base, int(at), with)
		}
		x.use(t, base, ext)
	})
}

// overwrite changes the sections of an index file from a place on, and their checksums.
func overwrite(b []byte, at int, with []byte) {
	n := int(binary.LittleEndian.Uint32(b[16:]))
	head, sections := b[24:24+n], b[24+n:]
	if len(sections) > 0 {
		copy(sections[at%len(sections):], with)
	}
	d := indexfile.Decoder{Rest: head}
	for range d.Count() {
		size, block := d.Int(), d.Int()
		for i := range int64(d.Count()) {
			sum := indexfile.Checksum(sections[i*block : min(size, (i+1)*block)])
			binary.LittleEndian.PutUint32(d.Rest, sum)
			d.Sum()
		}
		sections = sections[size:]
	}
	copy(b, withSums(b))
}

// withSums corrects the checksum of the head of an index file.
func withSums(b []byte) []byte {
	b = bytes.Clone(b)
	if len(b) < 24 {
		return b
	}
	n := int(b[16]) | int(b[17])<<8 | int(b[18])<<16
	if n > len(b)-24 {
		return b
	}
	sum := indexfile.Checksum(b[24 : 24+n])
	b[20], b[21], b[22], b[23] = byte(sum), byte(sum>>8), byte(sum>>16), byte(sum>>24)
	return b
}
