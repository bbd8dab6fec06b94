package library_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/racetest"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/library"
)

// lineWriter writes a random session.
type lineWriter struct {
	r   *rand.Rand
	ids []string
	odd bool // lines that need a reading by lines
}

func (w *lineWriter) head(dialect session.Dialect) string {
	slot, title := "", ""
	if dialect == session.Omp {
		slot = fmt.Sprintf(`{"type":"title","v":1,"title":%q,"updatedAt":"2026-01-01T00:00:00.000Z","pad":"    "}`, []string{"", "Slot"}[w.r.IntN(2)]) + "\n"
	} else {
		title = []string{"", `,"title":"In the header"`, `,"title":""`}[w.r.IntN(3)]
	}
	return slot + `{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"` + title + "}\n" +
		`{"type":"message","id":"00000001","parentId":null,"timestamp":"2026-01-01T00:00:00.000Z","message":{"role":"user","content":"The first prompt"}}` + "\n"
}

func (w *lineWriter) line() string {
	id := fmt.Sprintf("%08x", len(w.ids)*7919+99)
	parent := `"00000001"`
	if len(w.ids) > 0 {
		parent = fmt.Sprintf("%q", w.ids[len(w.ids)-1])
		switch w.r.IntN(20) {
		case 0:
			parent = fmt.Sprintf("%q", w.ids[w.r.IntN(len(w.ids))])
		case 1:
			parent = []string{`"gone"`, "null", fmt.Sprintf("%q", id), fmt.Sprintf("\"%08x\"", (len(w.ids)+3)*7919+99)}[w.r.IntN(4)]
		}
	}
	w.ids = append(w.ids, id)
	head := func(typ string) string {
		return fmt.Sprintf(`{"type":%q,"id":%q,"parentId":%s,"timestamp":"2026-01-01T00:00:00.000Z"`, typ, id, parent)
	}
	switch w.r.IntN(24) {
	case 0:
		return head("session_info") + fmt.Sprintf(`,"name":%q%s}`, []string{"", "Named", "Named again"}[w.r.IntN(3)], []string{"", `,"inHeader":true`}[w.r.IntN(2)])
	case 1:
		return head("compaction") + fmt.Sprintf(`,"summary":"s","shortSummary":%q,"firstKeptEntryId":"x","tokensBefore":1}`, []string{"", "Short", "Shorter"}[w.r.IntN(3)])
	case 2, 3:
		return head("custom") + `,"customType":"xcsh-ls.description","data":{"text":"It is hidden."}}`
	case 4:
		return head("custom") + `,"customType":"other","data":{}}`
	case 5:
		return []string{"garbage", `{"type":"mess`, "[]", `{"no":"type"}`, "", `{"type":"session","id":"again"}`}[w.r.IntN(6)]
	case 6:
		return head("message") + []string{`,"message":{"content":"no role"}}`, `,"message":null}`, `}`, `,"message":{"role":"odd","content":7}}`}[w.r.IntN(4)]
	case 7:
		return head("model_change") + `,"model":"p/m","role":"default"}`
	case 8:
		return `{"type":"label","parentId":null,"targetId":"x","label":"y"}` // no id
	case 9:
		return fmt.Sprintf(`{"type":"message","id":"n\\u00e4med-%d","parentId":%s,"message":{"role":"user","content":"x"}}`, len(w.ids), parent)
	case 10:
		if w.odd {
			return fmt.Sprintf(`{"type":"message","id":%q,"parentId":%s,"message":{"role":"user","content":"again"}}`, w.ids[w.r.IntN(len(w.ids))], parent)
		}
	}
	return head("message") + fmt.Sprintf(`,"message":{"role":%q,"content":[{"type":"text","text":"hello"}]}}`, []string{"user", "assistant", "toolResult"}[w.r.IntN(3)])
}

// largeStore has a root of each dialect.
func largeStore(t *testing.T, fs afero.Fs, top string) (library.Finder, func(session.Dialect) string) {
	t.Helper()
	f := library.Finder{Fs: fs, Home: "/home/zed", Temp: "/tmp", Now: func() time.Time { return time.Now().Add(time.Minute) }, IndexDir: filepath.Join(top, "index")}
	paths := map[session.Dialect]string{}
	for _, d := range []session.Dialect{session.Xcsh, session.Pi, session.Omp} {
		root := library.Root{Places: library.AgentPlaces(filepath.Join(top, d.String())), Dialect: d, Own: d == session.Xcsh}
		f.Roots = append(f.Roots, root)
		paths[d] = filepath.Join(root.Sessions, "--w--", "2026-01-01T00-00-00-000Z_s.jsonl")
		require.NoError(t, fs.MkdirAll(filepath.Dir(paths[d]), 0o700))
	}
	return f, func(d session.Dialect) string { return paths[d] }
}

// TestASessionIsDescribedByItsIndexAsByItsLines: random sessions of the three dialects, by their documents.
func TestASessionIsDescribedByItsIndexAsByItsLines(t *testing.T) {
	defer library.SetLargeFile(0)()
	indexed := 0
	for seed := range uint64(300) {
		fs := afero.NewMemMapFs()
		f, path := largeStore(t, fs, "/")
		dialect := session.Dialect(seed % 3)
		w := &lineWriter{r: rand.New(rand.NewPCG(seed, 6)), odd: seed%7 == 0}
		own := dialect
		if seed%5 == 0 {
			dialect = session.Xcsh // another program's session in our own root
		}
		content := w.head(own)
		for range w.r.IntN(150) {
			content += w.line() + "\n"
		}
		content = content[:len(content)-w.r.IntN(2)]
		require.NoError(t, afero.WriteFile(fs, path(dialect), []byte(content), 0o600))
		want, err := f.DescribeByLines(path(dialect))
		require.NoError(t, err)
		got, ok := f.DescribeIndexed(t.Context(), path(dialect))
		if ok {
			indexed++
			require.Equal(t, want, got, "seed %d\n%s", seed, content)
		}
	}
	require.Greater(t, indexed, 200)
}

// TestAListOfALargeSession: reading it for a list leaves an index file; a list of another program run reads almost nothing.
func TestAListOfALargeSession(t *testing.T) {
	t.Parallel()
	racetest.Large(t)
	top := t.TempDir()
	metered := &meteredFs{Fs: afero.NewOsFs()}
	f, path := largeStore(t, metered, top)
	pad := strings.Repeat("x", 1<<20)
	for _, dialect := range []session.Dialect{session.Xcsh, session.Pi, session.Omp} {
		w := &lineWriter{r: rand.New(rand.NewPCG(uint64(dialect), 8))}
		var content bytes.Buffer
		content.WriteString(w.head(dialect))
		for n := range 9 {
			for range 50 {
				content.WriteString(w.line() + "\n")
			}
			fmt.Fprintf(&content, `{"type":"custom","id":"ffff%04d","parentId":null,"customType":"pad","data":%q}`+"\n", n, pad)
		}
		require.NoError(t, os.WriteFile(path(dialect), content.Bytes(), 0o600))
		metered.on = path(dialect)
		for step := range 3 {
			want, err := f.DescribeByLines(path(dialect))
			require.NoError(t, err)
			metered.bytes.Store(0)
			got, ok := f.DescribeIndexed(t.Context(), path(dialect))
			require.True(t, ok)
			require.Equal(t, want, got)
			if step == 1 {
				require.Less(t, metered.bytes.Load(), int64(3<<20), "its index file counts")
			}
			if step == 1 { // it grows
				file, err := os.OpenFile(path(dialect), os.O_APPEND|os.O_WRONLY, 0o600)
				require.NoError(t, err)
				_, err = file.WriteString(w.line() + "\n" + w.line() + "\n")
				require.NoError(t, errors.Join(err, file.Close()))
			}
		}
		infos, _, err := f.ListAll(t.Context(), library.ListOptions{IncludeEmpty: true, Only: path(dialect)})
		require.NoError(t, err)
		require.Len(t, infos, 1)
		left, err := filepath.Glob(filepath.Join(top, "index", "*.idx"))
		require.NoError(t, err)
		require.Len(t, left, 1+int(dialect))
	}
}

// TestAListOfLargeSessionsCanBeCancelled: nothing is remembered of a session whose reading was given up.
func TestAListOfLargeSessionsCanBeCancelled(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	f, path := largeStore(t, fs, "/")
	w := &lineWriter{r: rand.New(rand.NewPCG(5, 8))}
	content := w.head(session.Pi) + `{"type":"custom","id":"ffffffff","parentId":null,"customType":"pad","data":"` + strings.Repeat("x", 9<<20) + `"}` + "\n"
	require.NoError(t, afero.WriteFile(fs, path(session.Pi), []byte(content), 0o600))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, ok := f.DescribeIndexed(ctx, path(session.Pi))
	require.False(t, ok)
	left, err := afero.Glob(fs, "/index/*")
	require.NoError(t, err)
	require.Empty(t, left)
	got, ok := f.DescribeIndexed(t.Context(), path(session.Pi))
	require.True(t, ok)
	require.Equal(t, "The first prompt", got.FirstMessage)
}

// meteredFs counts the bytes read of one file.
type meteredFs struct {
	afero.Fs
	on    string
	bytes atomic.Int64
}

func (c *meteredFs) Open(name string) (afero.File, error) {
	f, err := c.Fs.Open(name)
	if err != nil || name != c.on {
		return f, err
	}
	return &meteredFile{f, c}, nil
}

type meteredFile struct {
	afero.File
	c *meteredFs
}

func (f *meteredFile) Read(b []byte) (int, error) {
	n, err := f.File.Read(b)
	f.c.bytes.Add(int64(n))
	return n, err
}

func (f *meteredFile) ReadAt(b []byte, off int64) (int, error) {
	n, err := f.File.ReadAt(b, off)
	f.c.bytes.Add(int64(n))
	return n, err
}
