package session_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/racetest"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
	"github.com/xcsh-ls/xcsh-ls/internal/sessiontest/kit"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// longOdd are parts of lines for scans whose limits are some dozen bytes.
var longOdd = append([]string{
	strings.Repeat("x", 200) + "\n", `{"a":"` + strings.Repeat("never closed ", 20) + "\n", strings.Repeat("[", 500) + "\n",
	strings.Repeat("[", 90) + strings.Repeat("]", 90) + "\n", strings.Repeat(" ", 150) + "\n", `{"type":"custom","id":"` + strings.Repeat("i", 100) + "\"}\n",
	st.User("eeeeeeee", "dddddddd", strings.Repeat(`\"\\é`, 40)) + st.User("ffffffff", "", "second value") + "\n", strings.Repeat("7", 99) + "\n",
	`{"a":1} ` + st.User("eeeeeeee", "", strings.Repeat("long ", 30)) + " {\n", st.User("abababab", "", strings.Repeat("b", 150)),
}, oddLines...)

// requireSameWhenLong holds scans that hold no long lines, with and without workers, against one that does.
func requireSameWhenLong(t *testing.T, file string, long, workers, block int) {
	t.Helper()
	want, err := session.ScanHeld(strings.NewReader(file), 1<<20)
	require.NoError(t, err)
	span := 1 << 20
	if strings.Contains(file, "\n") {
		span = min(span, max(long, 1)) // only then may a long line be given up at its end
		want, err = session.ScanHeld(strings.NewReader(file), span)
		require.NoError(t, err)
	}
	for i := range want.Values {
		want.Values[i].Digested = false
	}
	for _, read := range []func() (session.Scanned, error){
		func() (session.Scanned, error) {
			return session.ScanLong(strings.NewReader(file), long, 64<<10, span)
		},
		func() (session.Scanned, error) {
			return session.ScanLong(iotest.HalfReader(strings.NewReader(file)), long, 64<<10, span)
		},
		func() (session.Scanned, error) {
			return session.ScanLongParallel(strings.NewReader(file), long, 64<<10, span, workers, block)
		},
	} {
		got, err := read()
		require.NoError(t, err)
		require.Equal(t, want, got, "%q, long from %d, by %d in blocks of %d", file, long, workers, block)
	}
}

// TestLongLinesGiveWhatOthersGive: whether a line is held changes neither values nor problems.
func TestLongLinesGiveWhatOthersGive(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 4))
	for range 500 {
		var file strings.Builder
		for range random.IntN(12) {
			file.WriteString(longOdd[random.IntN(len(longOdd))])
		}
		requireSameWhenLong(t, file.String(), 1+random.IntN(300), 1+random.IntN(3), 1+random.IntN(400))
	}
}

// TestALongLineAtEverySegmentBoundary moves a long line over the end of a segment.
func TestALongLineAtEverySegmentBoundary(t *testing.T) {
	t.Parallel()
	long := st.User("bbbbbbbb", "aaaaaaaa", strings.Repeat("long ", 60)) + "\n"
	for before := range 130 {
		file := st.User("aaaaaaaa", "", strings.Repeat("a", before)) + "\n" + long + st.User("cccccccc", "bbbbbbbb", "q") + "\n"
		requireSameWhenLong(t, file, 150, 2, 128)
		requireSameWhenLong(t, strings.TrimSuffix(long, "\n")[before:], 150, 2, 128)
		requireSameWhenLong(t, file+strings.TrimSuffix(long, "\n"), 150, 2, 128)
	}
}

func FuzzLongLines(f *testing.F) {
	for i, line := range longOdd {
		f.Add([]byte(oddLines[0]+line+oddLines[1]), uint16(20*i), uint8(i), uint16(64))
	}
	f.Fuzz(func(t *testing.T, file []byte, long uint16, workers uint8, block uint16) {
		requireSameWhenLong(t, string(file), 1+int(long), 1+int(workers%4), 1+int(block))
	})
}

// TestPartsOfALongLineThatAreTooLong: an envelope is not cut, but reported.
func TestPartsOfALongLineThatAreTooLong(t *testing.T) {
	t.Parallel()
	name := strings.Repeat("n", 100)
	for line, found := range map[string]int{
		`{"type":"message","id":"a","message":{"role":"` + name + `","content":"` + name + `"}}`: 0,
		`{"type":"message","id":"` + name + `","parentId":null,"message":{}}`:                    0,
		`{"type":"` + name + `","id":"a"}`:                                                       0,
		`{"type":"custom","id":"a","parentId":"` + name + `"}`:                                   0,
		`{"type":"custom","id":"` + name + `","id":"a","data":"` + name + `"}`:                   1,
		`{"type":"custom","id":"a","data":"` + name + name + `"}`:                                1,
	} {
		for _, read := range []func(io.ReadSeeker) (session.Scanned, error){
			func(r io.ReadSeeker) (session.Scanned, error) { return session.ScanLong(r, 120, 64, 120) },
			func(r io.ReadSeeker) (session.Scanned, error) {
				return session.ScanLongParallel(r, 120, 64, 120, 2, 30)
			},
			func(r io.ReadSeeker) (session.Scanned, error) { return session.ScanLong(r, 1000, 64, 120) },
		} {
			s, err := read(strings.NewReader("{\"type\":\"session\"}\n" + line + "\n{}\n"))
			require.NoError(t, err)
			require.Len(t, s.Values, 2+found, line)
			require.Len(t, s.Problems, 1-found)
			if found == 0 {
				require.Equal(t, session.LineTooLong, s.Problems[0].Kind)
				require.Equal(t, 2, s.Problems[0].Line)
				require.True(t, s.Problems[0].Lost)
			} else {
				require.Equal(t, len(line), s.Values[1].Length)
			}
		}
	}
}

// TestReadsOfALongLineFail: at each read in turn.
func TestReadsOfALongLineFail(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	content := []byte(oddLines[0] + st.User("bbbbbbbb", "", strings.Repeat("long ", 1<<20)) + "\n" + oddLines[0])
	reads := func(after int64, scan func(io.ReadSeeker) error) bool {
		file := &failingFile{ReadSeeker: bytes.NewReader(content), left: after, err: broken}
		err := scan(file)
		if file.left == 0 && err != nil {
			require.ErrorIs(t, err, broken)
			return true
		}
		require.NoError(t, err)
		return false
	}
	for name, scan := range map[string]func(io.ReadSeeker) error{
		"alone":   func(r io.ReadSeeker) error { _, err := session.ScanLong(r, 1000, 64, 100); return err },
		"workers": func(r io.ReadSeeker) error { _, err := session.ScanLongParallel(r, 1000, 64, 100, 2, 300); return err },
	} {
		failed := 0
		for after := int64(0); reads(after, scan); after++ {
			failed++
		}
		require.Greater(t, failed, 5, name)
	}
}

// made is a file of which only the pattern is stored.
type made struct {
	afero.File
	parts []madePart
	at    int64
	mod   time.Time
	fails int64 // reads from here on fail; 0: none
}

// madePart is a text that is repeated.
type madePart struct {
	text  string
	times int64
}

func (m *made) size() (n int64) {
	for _, p := range m.parts {
		n += int64(len(p.text)) * p.times
	}
	return n
}

var errMade = errors.New("cannot be read here")

func (m *made) ReadAt(b []byte, off int64) (n int, err error) {
	if m.fails > 0 && off+int64(len(b)) > m.fails {
		return 0, errMade
	}
	for _, p := range m.parts {
		length := int64(len(p.text)) * p.times
		for off < length && n < len(b) {
			from := off % int64(len(p.text))
			got := copy(b[n:min(int64(len(b)), int64(n)+length-off)], p.text[from:])
			n, off = n+got, off+int64(got)
		}
		off = max(0, off-length)
		if n == len(b) {
			return n, nil
		}
	}
	return n, io.EOF
}

func (m *made) Read(b []byte) (int, error) {
	n, err := m.ReadAt(b, m.at)
	if m.at += int64(n); n > 0 && errors.Is(err, io.EOF) {
		err = nil
	}
	return n, err
}

func (m *made) Seek(offset int64, whence int) (int64, error) {
	if whence != io.SeekStart {
		return 0, errors.ErrUnsupported
	}
	m.at = offset
	return offset, nil
}

func (m *made) Close() error               { return nil }
func (m *made) Stat() (os.FileInfo, error) { return madeInfo{m}, nil }

type madeInfo struct{ m *made }

func (i madeInfo) Name() string       { return "made.jsonl" }
func (i madeInfo) Size() int64        { return i.m.size() }
func (i madeInfo) Mode() os.FileMode  { return 0o600 }
func (i madeInfo) ModTime() time.Time { return i.m.mod }
func (i madeInfo) IsDir() bool        { return false }
func (i madeInfo) Sys() any           { return nil }

// madeFs is a file system with one made file.
type madeFs struct {
	afero.Fs
	parts []madePart
	fails int64
}

func (f *madeFs) file() *made {
	return &made{parts: f.parts, fails: f.fails, mod: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
}

func (f *madeFs) Open(name string) (afero.File, error) {
	if name != kit.Filed {
		return f.Fs.Open(name)
	}
	return f.file(), nil
}

func (f *madeFs) Stat(name string) (os.FileInfo, error) {
	if name != kit.Filed {
		return f.Fs.Stat(name)
	}
	return madeInfo{f.file()}, nil
}

// withLongLine returns a session of a dialect with a prompt, an answer on a line of the given length, and
// another prompt.
func withLongLine(dialect session.Dialect, length int64, end ...madePart) *madeFs {
	header, slot := st.Header("0123456789abcdef", "/w"), ""
	switch dialect {
	case session.Pi:
		header = strings.Replace(header, "0123456789abcdef", "01234567-89ab-cdef-0123-456789abcdef", 1)
	case session.Omp:
		header = strings.Replace(header, "0123456789abcdef", "01234567-89ab-cdef-0123-456789abcdef", 1)
		slot = kit.SlotLine() + "\n"
	default:
	}
	before, after, _ := strings.Cut(st.Assistant("bbbbbbbb", "aaaaaaaa", "TEXT"), "TEXT")
	parts := []madePart{
		{slot + header + "\n" + st.User("aaaaaaaa", "", "first") + "\n" + before, 1},
		{strings.Repeat("long words ", 1000), length / 11000},
		{after + "\n" + st.User("cccccccc", "bbbbbbbb", "last") + "\n", 1},
	}
	return &madeFs{Fs: afero.NewMemMapFs(), parts: append(parts, end...)}
}

// TestALineOfFortyMegabytesIsResumedInFull: it was passed over, and the conversation before it was lost.
func TestALineOfFortyMegabytesIsResumedInFull(t *testing.T) {
	t.Parallel()
	racetest.Large(t)
	const length = 40 << 20
	for _, dialect := range []session.Dialect{session.Xcsh, session.Pi, session.Omp} {
		fs := withLongLine(dialect, length)
		doc, err := session.Load(fs, kit.Filed)
		require.NoError(t, err)
		require.Empty(t, doc.Problems())
		require.Equal(t, dialect, doc.Dialect())
		require.Equal(t, 3, doc.Len())
		tally, err := doc.Tally()
		require.NoError(t, err)
		require.Equal(t, map[string]int{"user": 2, "assistant": 1}, tally.Roles)

		ctx, problems, err := session.BuildContext(doc, session.AtLast(), nil)
		require.NoError(t, err)
		require.Empty(t, problems)
		require.Equal(t, []string{"aaaaaaaa", "bbbbbbbb", "cccccccc"}, ctx.EntryIDs)
		require.Len(t, session.MessageText(ctx.Messages[1]), length/11000*11000)
		state, err := doc.ContextState(session.AtLast())
		require.NoError(t, err)
		require.Equal(t, 3, state.MessageCount)
		require.Equal(t, ctx.Models, state.Models)
		if dialect == session.Omp {
			continue // it reads answers whole, and a tail is not used
		}
		require.Greater(t, state.LongBytes, int64(length-11000))
		require.Equal(t, "bbbbbbbb", state.LongEntry)
		tail, ok, err := session.LoadTail(fs, kit.Filed, &dialect, nil)
		require.NoError(t, err)
		if require.Equal(t, dialect == session.Pi, ok); ok {
			require.Equal(t, ctx, tail.Context)
		}
	}
}

// TestScanningALongLineTakesNoMoreMemory counts the bytes that reading a session allocates.
func TestScanningALongLineTakesNoMoreMemory(t *testing.T) { //nolint:paralleltest // it counts all allocations
	racetest.Large(t)
	for _, workers := range []int{1, 4} {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(workers))
		read := func(length int64) uint64 {
			fs := withLongLine(session.Pi, length, madePart{strings.Repeat("\n", 1<<20), 20})
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			doc, err := session.Load(fs, kit.Filed)
			require.NoError(t, err)
			require.Equal(t, 3, doc.Len())
			_, err = doc.Brief(1)
			require.NoError(t, err)
			_, err = doc.ContextState(session.AtLast())
			require.NoError(t, err)
			runtime.ReadMemStats(&after)
			return after.TotalAlloc - before.TotalAlloc
		}
		base, long := read(11000), read(200<<20)
		t.Logf("%d workers: %d MiB without, %d MiB with the line", workers, base>>20, long>>20)
		require.Less(t, long, base+24<<20)
	}
}

// TestHostileLongLines: each costs itself and nothing else, in bounded memory.
func TestHostileLongLines(t *testing.T) {
	t.Parallel()
	racetest.Large(t)
	for name, line := range map[string][]madePart{
		"a string that is never closed": {{`{"type":"message","id":"x","message":{"content":"`, 1}, {strings.Repeat("y", 1<<20), 40}},
		"brackets":                      {{strings.Repeat("[", 1_000_000), 10}},
		"members without end":           {{strings.Repeat(`{"a":`, 100_000), 70}},
		"bytes":                         {{strings.Repeat("\x00", 1<<20), 33}},
		"white space":                   {{strings.Repeat(" ", 1<<20), 33}},
	} {
		file := []madePart{{st.Header("0123456789abcdef", "/w") + "\n" + st.User("aaaaaaaa", "", "first") + "\n", 1}}
		file = append(append(file, line...), madePart{"\n" + st.User("bbbbbbbb", "aaaaaaaa", "last") + "\n", 1})
		doc, err := session.Load(&madeFs{Fs: afero.NewMemMapFs(), parts: file}, kit.Filed)
		require.NoError(t, err, name)
		require.Equal(t, 2, doc.Len(), name)
		if name == "white space" {
			require.Empty(t, doc.Problems())
			continue
		}
		require.Len(t, doc.Problems(), 1, name)
		require.Equal(t, session.MalformedLine, doc.Problems()[0].Kind, name)
		require.Equal(t, 3, doc.Problems()[0].Line, name)
	}
}

// TestAValueThatFitsNoIndexIsReported: an index has 32 bits for its length.
func TestAValueThatFitsNoIndexIsReported(t *testing.T) {
	t.Parallel()
	value := `{"type":"custom","data":"` + strings.Repeat("z", 3000) + `"}`
	for limit, found := range map[int]int{len(value): 4, len(value) - 1: 3} {
		s, err := session.ScanValuesUpTo(strings.NewReader("{\"type\":\"session\"}\n"+value+" {}\n{}\n"), limit)
		require.NoError(t, err)
		require.Len(t, s.Values, found)
		require.Len(t, s.Problems, 5-found, "also that there are two values on the line")
		if found == 3 {
			require.Equal(t, session.LineTooLong, s.Problems[0].Kind)
			require.Contains(t, s.Problems[0].Message, "Line 2 holds a value of more than 2 GiB")
			require.True(t, s.Problems[0].Lost)
		}
	}
}

// TestAHeaderIsHeld: every byte of it is needed, so that a long line before it is passed over.
func TestAHeaderIsHeld(t *testing.T) {
	t.Parallel()
	long, _ := strings.CutSuffix(st.Header("0123456789abcdef", "/w"), "}")
	content := long + `,"extra":"` + strings.Repeat("e", 10<<20) + "\"}\n" + st.User("aaaaaaaa", "", "q") + "\n"
	fs := afero.NewMemMapFs()
	kit.Put(t, fs, kit.Filed, content)
	doc, err := session.Load(fs, kit.Filed)
	require.NoError(t, err)
	require.Len(t, doc.HeaderLine(), strings.IndexByte(content, '\n'))

	made := &madeFs{Fs: afero.NewMemMapFs(), parts: []madePart{{long + `,"extra":"`, 1}, {strings.Repeat("e", 1<<20), 40}, {"\"}\n" + st.User("aaaaaaaa", "", "q") + "\n", 1}}}
	_, err = session.Load(made, kit.Filed)
	kit.RequireSentence(t, err)
}

// TestPartsOfALongLineAreRead: its beginning for a list of entries, any part for a copy.
func TestPartsOfALongLineAreRead(t *testing.T) {
	t.Parallel()
	racetest.Large(t)
	fs := withLongLine(session.Pi, 30<<20)
	doc, err := session.Load(fs, kit.Filed)
	require.NoError(t, err)
	whole, err := doc.Entry(1)
	require.NoError(t, err)
	brief, err := doc.Brief(1)
	require.NoError(t, err)
	require.Less(t, len(brief.Raw), 100<<10)
	require.Equal(t, "assistant", brief.Role())
	require.Equal(t, []any{whole.ID, whole.ParentID, whole.Type, whole.Timestamp}, []any{brief.ID, brief.ParentID, brief.Type, brief.Timestamp})
	require.Equal(t, session.MessageBeginning(whole.Message(), 1000), session.MessageBeginning(brief.Message(), 1000))
	r, err := doc.LineReader(1)
	require.NoError(t, err)
	require.Equal(t, int64(len(whole.Raw)), r.Size())
	copied, err := io.ReadAll(r)
	require.NoError(t, err)
	require.True(t, bytes.Equal(whole.Raw, copied))

	i := 0
	for e, err := range doc.Briefs() {
		require.NoError(t, err)
		want, err := doc.Brief(i)
		require.NoError(t, err)
		require.Equal(t, want, e)
		i++
	}
	require.Equal(t, doc.Len(), i)

	// What every entry has may come after the text.
	late := fmt.Sprintf(`{"type":"message","id":"bbbbbbbb","parentId":"aaaaaaaa","message":{"content":[{"type":"text","text":"%s"}],"role":"user"},"timestamp":"2026-01-01T00:00:00.000Z"}`, strings.Repeat("w", 9<<20))
	mem := afero.NewMemMapFs()
	kit.Put(t, mem, kit.Filed, st.File(st.Header("0123456789abcdef", "/w"), st.User("aaaaaaaa", "", "q"), late))
	doc, err = session.Load(mem, kit.Filed)
	require.NoError(t, err)
	e, err := doc.Brief(1)
	require.NoError(t, err)
	require.Equal(t, "user", e.Role())
	require.Equal(t, "2026-01-01T00:00:00.000Z", e.Timestamp)
	require.Less(t, len(e.Raw), 100<<10)
}

// TestALongLineThatCannotBeReadAgain: a disk that fails is a sentence, wherever the line is read.
func TestALongLineThatCannotBeReadAgain(t *testing.T) {
	t.Parallel()
	fs := withLongLine(session.Pi, 30<<20)
	f := fs.file()
	doc, err := session.LoadFile(f, kit.Filed)
	require.NoError(t, err)
	f.fails = 20 << 20
	_, err = doc.ContextState(session.AtLast())
	kit.RequireSentence(t, err)
	require.ErrorIs(t, err, errMade)
	f.fails = 100
	_, err = doc.Brief(1)
	require.ErrorIs(t, err, errMade)
	for _, err = range doc.Briefs() {
		if err != nil {
			break
		}
	}
	require.ErrorIs(t, err, errMade)
	fs.fails = 20 << 20
	_, err = session.Load(fs, kit.Filed)
	kit.RequireSentence(t, err)
	pi := session.Pi
	_, _, err = session.LoadTail(fs, kit.Filed, &pi, nil)
	kit.RequireSentence(t, err)

	f.fails, f.parts = 0, f.parts[:2] // it becomes shorter
	_, err = doc.ContextState(session.AtLast())
	kit.RequireSentence(t, err)
}

// TestImagesOutsideTheFileOnALongLine: a reference anywhere in the line counts, also where it is read in two parts.
func TestImagesOutsideTheFileOnALongLine(t *testing.T) {
	t.Parallel()
	racetest.Large(t)
	line := func(before int) string {
		return fmt.Sprintf(`{"type":"message","id":"bbbbbbbb","parentId":"aaaaaaaa","timestamp":"2026-01-01T00:00:00.000Z","message":{"role":"user","content":[`+
			`{"type":"text","text":"%s"},{"type":"image","mimeType":"image/png","data":"%s%s"},{"type":"text","text":"%s"}]}}`,
			strings.Repeat("t", before), session.BlobPrefix, strings.Repeat("0", 64), strings.Repeat("t", 5<<20))
	}
	first := strings.Index(line(0), session.BlobPrefix)
	before := []int{0, 3 << 20}
	for split := range len(session.BlobPrefix) + 1 {
		before = append(before, 256<<10-first-split)
	}
	for _, before := range before {
		doc, err := session.Parse([]byte(st.File(st.Header("0123456789abcdef", "/w"), st.User("aaaaaaaa", "", "q"), line(before))))
		require.NoError(t, err)
		problems, err := doc.ContextProblems(session.AtLast(), session.BlobDir{Fs: afero.NewMemMapFs(), Dir: "/blobs"})
		require.NoError(t, err)
		require.Len(t, problems, 1)
		require.Equal(t, session.MissingBlob, problems[0].Kind)
	}
}
