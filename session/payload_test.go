package session_test

import (
	"fmt"
	"math/rand"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/racetest"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
	"github.com/xcsh-ls/xcsh-ls/internal/sessiontest/kit"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// bulk is an entry that makes a file too large to be kept in memory. It has no children.
func bulk() string {
	return `{"type":"custom","id":"ffff0000","parentId":null,"timestamp":"2026-01-01T00:00:00.000Z","customType":"x","data":"` +
		strings.Repeat("x", 8<<20) + `"}`
}

// scattered is a conversation whose lines cannot all be read at once: some are larger than
// a block, some are far apart, some come before their parents.
func scattered(r *rand.Rand) []string {
	lines := []string{st.Header("0123456789abcdef", "/w")}
	parent := ""
	for n := range 60 {
		id := fmt.Sprintf("%08x", n+1)
		size := []int{10, 200, 3_000, 40_000}[r.Intn(4)]
		if r.Intn(30) == 0 {
			size = 1_500_000
		}
		text := strings.Repeat(string(rune('a'+n%26)), size)
		line := st.User(id, parent, text)
		if r.Intn(2) == 0 {
			line = st.Assistant(id, parent, text)
		}
		at := len(lines)
		if r.Intn(8) == 0 { // before its parent
			at = 1 + r.Intn(len(lines))
		}
		lines = append(lines[:at:at], append([]string{line}, lines[at:]...)...)
		if r.Intn(6) == 0 { // a gap
			lines = append(lines, fmt.Sprintf(`{"type":"custom","id":"gap%d","parentId":null,"timestamp":"2026-01-01T00:00:00.000Z","customType":"x","data":%q}`,
				n, strings.Repeat("g", r.Intn(100_000))))
		}
		parent = id
	}
	return lines
}

// TestLargeFilesReadAsSmallOnes compares contexts read from a file in blocks with those of
// the same lines in memory.
func TestLargeFilesReadAsSmallOnes(t *testing.T) {
	t.Parallel()
	for seed := range int64(6) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewSource(seed))
			lines := scattered(r)
			small, err := session.Parse([]byte(st.File(lines...)))
			require.NoError(t, err)
			fs := afero.NewMemMapFs()
			kit.Put(t, fs, kit.Filed, st.File(append(lines[:1:1], append([]string{bulk()}, lines[1:]...)...)...))
			for _, dialect := range []session.Dialect{session.Pi, session.Xcsh, session.Omp} {
				large, err := session.LoadAs(fs, kit.Filed, &dialect)
				require.NoError(t, err)
				require.Equal(t, small.Len()+1, large.Len())
				for range 5 {
					leaf := session.At(fmt.Sprintf("%08x", 1+r.Intn(60)))
					want, _, err := session.BuildContext(small, leaf, nil)
					require.NoError(t, err)
					got, _, err := session.BuildContext(large, leaf, nil)
					require.NoError(t, err)
					require.Equal(t, want.EntryIDs, got.EntryIDs)
					for i, m := range want.Messages {
						require.Equal(t, string(m), string(got.Messages[i]))
					}
					requireStreamed(t, want, large, leaf, nil)
					state, err := large.ContextState(leaf)
					require.NoError(t, err)
					require.Len(t, want.Messages, state.MessageCount)
				}
				wantUsage, err := small.Usage()
				require.NoError(t, err)
				usage, err := large.Usage()
				require.NoError(t, err)
				require.Equal(t, wantUsage, usage)
				require.NoError(t, large.Close())
			}
		})
	}
}

// TestAFileThatShrinksWhileItIsRead truncates a large file after it was indexed.
func TestAFileThatShrinksWhileItIsRead(t *testing.T) {
	t.Parallel()
	st.RunStorage(t, func(t *testing.T, fs afero.Fs) {
		lines := []string{st.Header("0123456789abcdef", "/w"), bulk(), st.User("aaaaaaaa", "", "one"), st.Assistant("bbbbbbbb", "aaaaaaaa", "two")}
		kit.Put(t, fs, kit.Filed, st.File(lines...))
		doc, err := session.Load(fs, kit.Filed)
		require.NoError(t, err)
		before, err := doc.ContextState(session.AtLast())
		require.NoError(t, err)
		require.Equal(t, 2, before.MessageCount)

		f, err := fs.OpenFile(kit.Filed, 2, 0)
		require.NoError(t, err)
		require.NoError(t, f.Truncate(int64(len(st.File(lines[:2]...)))+20))
		require.NoError(t, f.Close())

		_, _, err = session.BuildContext(doc, session.AtLast(), nil)
		require.True(t, fault.Is(err, fault.IO), "%v", err)
		require.EqualError(t, err, "Cannot read "+kit.Filed+": it became shorter while it was open.")
		_, err = doc.Usage()
		require.NoError(t, err, "it was summed up while the file was read")
		_, err = doc.Entry(2)
		require.True(t, fault.Is(err, fault.IO), "%v", err)
		remembered, err := doc.ContextState(session.AtLast())
		require.NoError(t, err, "what was said before is known without the file")
		require.Equal(t, before, remembered)
		require.NoError(t, doc.Close())
	})
}

// TestContextStateIsThatOfTheContext compares the two for every fixture, and for generated
// files, at leaves all over the tree.
func TestContextStateIsThatOfTheContext(t *testing.T) {
	t.Parallel()
	racetest.Large(t)
	check := func(t *testing.T, d *session.Document, leaf session.Leaf) {
		t.Helper()
		ctx, wantProblems, err := session.BuildContext(d, leaf, nil)
		require.NoError(t, err)
		for range 2 { // built, then cached
			got, err := d.ContextState(leaf)
			require.NoError(t, err)
			require.Equal(t, ctx.State(), got)
			got.Models["default"] = "changed by the caller"
			problems, err := d.ContextProblems(leaf, nil)
			require.NoError(t, err)
			require.Equal(t, wantProblems, problems)
		}
		requireStreamed(t, ctx, d, leaf, nil)
	}
	for _, program := range []string{"pi", "omp", "xcsh"} {
		files, err := filepath.Glob(filepath.Join(kit.Fixtures, program, "*.jsonl"))
		require.NoError(t, err)
		for _, file := range files {
			for _, dialect := range []session.Dialect{session.Pi, session.Omp, session.Xcsh} {
				d, err := session.LoadAs(kit.DiskFixtures(), file, &dialect)
				if err != nil {
					continue
				}
				check(t, d, session.AtRoot())
				for i := range d.Len() {
					check(t, d, session.At(d.ID(i)))
				}
			}
		}
	}
	for seed := range int64(200) {
		d, err := session.Parse([]byte(randomSession(rand.New(rand.NewSource(seed)))))
		require.NoError(t, err)
		for i := range d.Len() {
			check(t, d, session.At(d.ID(i)))
		}
	}
}

// requireStreamed compares the messages that are streamed with the messages of ctx, twice because a sequence may be
// iterated again, and once without its end.
func requireStreamed(t *testing.T, ctx session.Context, d *session.Document, leaf session.Leaf, blobs session.BlobSource) {
	t.Helper()
	state, messages, err := session.StreamContext(d, leaf, blobs)
	require.NoError(t, err)
	want := ctx.State()
	want.MessageCount = 0 // the streamed context has no messages
	require.Equal(t, want, state.State())
	for _, most := range []int{len(ctx.Messages), len(ctx.Messages) / 2, len(ctx.Messages)} {
		n := 0
		for m, err := range messages {
			require.NoError(t, err)
			if n == most {
				require.Less(t, most, len(ctx.Messages), "too many messages")
				break
			}
			require.Equal(t, string(ctx.Messages[n]), string(m))
			n++
		}
		require.Equal(t, most, n)
	}
}

// TestNeighboursAreReadTogether counts the reads of a long conversation, and of one whose
// entries are far apart, for which the bytes between the entries must not be read into
// memory.
func TestNeighboursAreReadTogether(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		gap   int
		reads int
	}{
		"close":     {0, 1},
		"far apart": {2_000, 500},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fs := &readCountFs{Fs: afero.NewMemMapFs()}
			lines := []string{st.Header("0123456789abcdef", "/w"), bulk()}
			parent := ""
			for n := range 500 {
				id := fmt.Sprintf("%08x", n+1)
				lines = append(lines, st.User(id, parent, "said"))
				if c.gap > 0 {
					lines = append(lines, fmt.Sprintf(`{"type":"custom","customType":%q}`, strings.Repeat("g", c.gap)))
				}
				parent = id
			}
			kit.Put(t, fs, kit.Filed, st.File(lines...))
			doc, err := session.Load(fs, kit.Filed)
			require.NoError(t, err)
			before := fs.reads.Load()
			ctx, _, err := session.BuildContext(doc, session.At(parent), nil)
			require.NoError(t, err)
			require.Len(t, ctx.Messages, 500)
			require.Equal(t, c.reads, int(fs.reads.Load()-before))
			require.NoError(t, doc.Close())
		})
	}
}

// readCountFs counts the calls of ReadAt.
type readCountFs struct {
	afero.Fs
	reads atomic.Int64
}

func (c *readCountFs) Open(name string) (afero.File, error) {
	f, err := c.Fs.Open(name)
	return &readCountFile{File: f, reads: &c.reads}, err
}

type readCountFile struct {
	afero.File
	reads *atomic.Int64
}

func (f *readCountFile) ReadAt(b []byte, off int64) (int, error) {
	f.reads.Add(1)
	return f.File.ReadAt(b, off)
}
