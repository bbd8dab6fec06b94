package session

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"
)

// grower changes a session at random, as runs, users and other programs do.
type grower struct {
	t       *testing.T
	rand    *rand.Rand
	fs      afero.Fs
	log     *Log
	dialect Dialect
	ids     []string // of the entries so far
	planned string   // the id of an entry that another program may write later
	n       int
	blobs   []string // the hashes of images that may appear later

	earlier, copies []Context // contexts that were returned, and what they were then
}

const growerBlobs = "/agent/blobs"

func newGrower(t *testing.T, seed uint64, dialect Dialect) *grower {
	t.Helper()
	g := &grower{t: t, rand: rand.New(rand.NewPCG(seed, 7)), fs: afero.NewMemMapFs(), dialect: dialect, planned: "0badcafe"}
	store := NewStore(StoreConfig{
		Fs: g.fs, DirFor: func(string) (string, error) { return "/s", nil },
		RootFor: func(string) (FileRoot, bool) { return FileRoot{Dialect: dialect, Blobs: growerBlobs}, true },
	})
	path := filepath.Join("/s", "2026-01-02T03-04-05-000Z_0190000000000001.jsonl")
	header := `{"type":"session","version":3,"id":"0190000000000001","timestamp":"2026-01-02T03:04:05.000Z","cwd":"/w"}`
	require.NoError(t, g.fs.MkdirAll("/s", 0o700))
	require.NoError(t, afero.WriteFile(g.fs, path, []byte(header+"\n"), 0o600))
	var err error
	g.log, err = store.Open(path)
	require.NoError(t, err)
	g.log.Hold()()
	return g
}

func (g *grower) pick(weights ...int) int {
	sum := 0
	for _, w := range weights {
		sum += w
	}
	n := g.rand.IntN(sum)
	for i, w := range weights {
		if n -= w; n < 0 {
			return i
		}
	}
	return 0
}

func (g *grower) some() string {
	if len(g.ids) == 0 {
		return "ffffffff"
	}
	if g.rand.IntN(12) == 0 {
		return g.planned
	}
	if g.rand.IntN(3) > 0 { // mostly a new one
		return g.ids[max(0, len(g.ids)-1-g.rand.IntN(8))]
	}
	return g.ids[g.rand.IntN(len(g.ids))]
}

// call returns one of few ids, so that they are used again.
func (g *grower) call() string { return fmt.Sprintf("call_%d", g.rand.IntN(6)) }

func (g *grower) image() string {
	g.n++
	data := fmt.Sprintf("picture %d", g.n)
	sum := sha256.Sum256([]byte(data))
	hash := hex.EncodeToString(sum[:])
	if g.rand.IntN(2) == 0 {
		require.NoError(g.t, afero.WriteFile(g.fs, filepath.Join(growerBlobs, hash), []byte(data), 0o600))
	} else {
		g.blobs = append(g.blobs, data)
	}
	return `{"type":"image","data":"` + BlobPrefix + hash + `","mimeType":"image/png"}`
}

// message returns a message of any kind.
func (g *grower) message() string {
	g.n++
	text := fmt.Sprintf(`{"type":"text","text":"text %d"}`, g.n)
	switch g.pick(4, 6, 6, 1, 1, 1, 1) {
	case 0:
		if g.rand.IntN(6) == 0 {
			text += "," + g.image()
		}
		return `{"role":"user","content":[` + text + `]}`
	case 1:
		for range g.rand.IntN(3) {
			text += `,{"type":"toolCall","id":"` + g.call() + `","name":"look","arguments":{}}`
		}
		if g.rand.IntN(4) == 0 {
			text += `,{"type":"thinking","thinking":"hm","thinkingSignature":"s"},{"type":"redactedThinking","data":"x"}`
		}
		stop := []string{"stop", "toolUse", "error", "aborted"}[g.pick(5, 5, 2, 1)]
		if g.rand.IntN(8) == 0 {
			text = ""
		}
		return fmt.Sprintf(`{"role":"assistant","provider":"p","model":"m%d","stopReason":%q,"content":[%s]}`, g.rand.IntN(3), stop, text)
	case 2:
		return `{"role":"toolResult","toolCallId":"` + g.call() + `","toolName":"look","content":[` + text + `]}`
	case 3:
		return `{"role":"custom","customType":"interrupted-thinking","content":[` + text + `]}`
	case 4:
		return `{"role":"system","content":"s"}`
	case 5:
		return `{"role":"assistant","provider":"github-copilot","model":"m","providerPayload":{"type":"openaiResponsesHistory"},"content":[` + text + `]}`
	default:
		return `{"role":"bashExecution","command":"ls","output":"` + BlobPrefix + strings.Repeat("a", 64) + `"}`
	}
}

// draft returns an entry of any kind.
func (g *grower) draft() *Draft {
	g.n++
	switch g.pick(40, 2, 2, 1, 1, 1, 1, 1, 1, 1, 2, 2) {
	case 0:
		return DraftMessage(json.RawMessage(g.message()))
	case 1:
		return draft(TypeCustomMessage).str("customType", "note").str("content", fmt.Sprint("n", g.n)).raw("display", []byte("true"))
	case 2:
		return draft(TypeCustom).str("customType", "state").raw("data", []byte("{}"))
	case 3:
		d := draft(TypeCompaction).str("summary", "sum").str("firstKeptEntryId", g.some()).raw("tokensBefore", []byte("9"))
		if g.rand.IntN(3) == 0 {
			d.raw("preserveData", []byte(`{"anthropicCompaction":{"provider":"p","content":"c"}}`))
		}
		return d
	case 4:
		return draft(typeResetBoundary)
	case 5:
		return draft(TypeCustom).str("customType", notesType).raw("data", []byte(fmt.Sprintf(`{"version":1,"text":"notes %d"}`, g.n)))
	case 6:
		return DraftModelChange(g.dialect, "q", fmt.Sprint("m", g.n), []string{"", "plan"}[g.rand.IntN(2)])
	case 7:
		return draft(TypeThinkingLevel).str("thinkingLevel", "high")
	case 8:
		return draft(TypeModeChange).str("mode", []string{"plan", "none"}[g.rand.IntN(2)]).raw("data", []byte(`{"a":1}`))
	case 9:
		return DraftRuleInjection([]string{fmt.Sprint("rule", g.rand.IntN(4))})
	case 10:
		d := draft(typeContextEdit).str("targetId", g.some())
		if g.rand.IntN(2) == 0 {
			d.raw("replacement", []byte(`{"content":"edited"}`))
		}
		return d
	default:
		return draftLabel(g.some(), "l")
	}
}

// line is an entry as another program writes it. Its id may be in use, and its parent missing.
func (g *grower) line() string {
	id := fmt.Sprintf("%08x", g.rand.Uint32())
	if g.rand.IntN(6) == 0 {
		id, g.planned = g.planned, id
	}
	parent := `"` + g.log.LeafID() + `"`
	switch g.pick(20, 1, 1, 1) {
	case 1:
		if g.rand.IntN(4) == 0 { // rarely, because nothing is kept afterwards
			id = g.some()
		}
	case 2:
		parent = `"` + g.some() + `"`
	case 3:
		parent = []string{`"` + g.planned + `"`, "null"}[g.rand.IntN(2)]
	}
	g.ids = append(g.ids, id)
	line := string(g.draft().Line(id, "PARENT", "2026-01-02T03:04:06.000Z"))
	return strings.Replace(line, `"PARENT"`, parent, 1) + "\n"
}

// step changes the session once.
func (g *grower) step() {
	switch g.pick(60, 12, 4, 1, 2, 3, 2) {
	case 0:
		id, err := g.log.Append(g.draft())
		require.NoError(g.t, err)
		g.ids = append(g.ids, id)
	case 1:
		g.foreign(g.line())
	case 2:
		_ = g.log.Branch(g.some())
	case 3:
		require.NoError(g.t, g.log.ResetLeaf())
	case 4:
		g.rewrite()
	case 5:
		if len(g.blobs) > 0 {
			sum := sha256.Sum256([]byte(g.blobs[0]))
			require.NoError(g.t, afero.WriteFile(g.fs, filepath.Join(growerBlobs, hex.EncodeToString(sum[:])), []byte(g.blobs[0]), 0o600))
			g.blobs = g.blobs[1:]
		}
	case 6:
		_, err := g.log.BranchWithSummary(g.log.LeafID(), "left")
		require.NoError(g.t, err)
	}
}

// foreign appends lines as another program does.
func (g *grower) foreign(lines string) {
	f, err := g.fs.OpenFile(g.log.Path(), os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(g.t, err)
	_, err = f.WriteString(lines)
	require.NoError(g.t, err)
	require.NoError(g.t, f.Close())
	_, err = g.log.Refresh()
	require.NoError(g.t, err)
}

// rewrite replaces the file, without one of its lines.
func (g *grower) rewrite() {
	content, err := afero.ReadFile(g.fs, g.log.Path())
	require.NoError(g.t, err)
	lines := bytes.SplitAfter(content, []byte("\n"))
	if n := len(lines); n > 4 && g.rand.IntN(2) == 0 {
		lines = slices.Delete(lines, n-2-g.rand.IntN(2), n-1)
	}
	require.NoError(g.t, afero.WriteFile(g.fs, g.log.Path()+".new", bytes.Join(lines, nil), 0o600))
	require.NoError(g.t, g.fs.Rename(g.log.Path()+".new", g.log.Path()))
	_, err = g.log.Refresh()
	require.NoError(g.t, err)
}

// scratch is what the context, its state and the path are without anything that was kept.
func (g *grower) scratch() (c Context, problems []Problem, state ContextState, path []int) {
	l := g.log
	l.mu.Lock()
	defer l.mu.Unlock()
	known, outlined := l.doc.spine.Load(), l.doc.outlined.Load()
	l.doc.spine.Store(nil)
	l.doc.outlined.Store(nil)
	var err error
	c, problems, err = BuildContext(l.doc, atPlace(l.leaf), l.store.BlobsFor(l.path))
	require.NoError(g.t, err)
	state, err = l.doc.ContextState(atPlace(l.leaf))
	require.NoError(g.t, err)
	path = l.doc.PathTo(atPlace(l.leaf))
	l.doc.spine.Store(known)
	l.doc.outlined.Store(outlined)
	return c, problems, state, path
}

func copied(c Context) Context {
	c.Messages, c.EntryIDs = slices.Clone(c.Messages), slices.Clone(c.EntryIDs)
	for i, m := range c.Messages {
		c.Messages[i] = bytes.Clone(m)
	}
	c.Models, c.InjectedTTSRRules = maps.Clone(c.Models), slices.Clone(c.InjectedTTSRRules)
	return c
}

func (g *grower) check() {
	g.t.Helper()
	want, problems, state, path := g.scratch()
	got, gotProblems, err := g.log.Context()
	require.NoError(g.t, err)
	sameContext(g.t, want, got)
	require.Equal(g.t, problems, gotProblems)
	require.NoError(g.t, g.log.View(func(d *Document, leaf Leaf) error {
		s, err := d.ContextState(leaf)
		require.Equal(g.t, state, s)
		require.Equal(g.t, path, d.PathTo(leaf))
		return err
	}))
	g.earlier, g.copies = append(g.earlier, got), append(g.copies, copied(got))
	if len(g.earlier) > 8 {
		sameContext(g.t, g.copies[0], g.earlier[0])
		g.earlier, g.copies = g.earlier[1:], g.copies[1:]
	}
}

func sameContext(t *testing.T, want, got Context) {
	t.Helper()
	require.Len(t, got.Messages, len(want.Messages))
	for i := range want.Messages {
		require.Equal(t, string(want.Messages[i]), string(got.Messages[i]), "message %d", i)
	}
	require.NotNil(t, got.Messages, "an empty list is not null in JSON")
	require.True(t, slices.Equal(want.EntryIDs, got.EntryIDs))
	want.Messages, got.Messages, want.EntryIDs, got.EntryIDs = nil, nil, nil, nil
	require.Equal(t, want, got)
}

// A kept context is the one that is built from scratch, whatever happened to the session, and one that
// was returned never changes.
func TestAKeptContextEqualsABuiltOne(t *testing.T) {
	t.Parallel()
	for _, dialect := range []Dialect{Xcsh, Pi, Omp} {
		t.Run(dialect.String(), func(t *testing.T) {
			t.Parallel()
			kept, steps := 0, 0
			for seed := range uint64(12) {
				g := newGrower(t, seed, dialect)
				for range 90 {
					before := g.log.live
					for range 1 + g.rand.IntN(3) {
						g.step()
					}
					g.check()
					steps++
					if before != nil && g.log.live == before {
						kept++
					}
				}
				require.NoError(t, g.log.Close())
				require.Nil(t, g.log.live, "a closed session keeps nothing")
			}
			require.Greater(t, kept, steps/4, "the context is rarely extended, so that this test shows little")
		})
	}
}

// An entry that changes the conversation before the leaf is noticed: the missing parent of one, and one
// that takes the id of another.
func TestAKeptContextWithAnotherBeginning(t *testing.T) {
	t.Parallel()
	line := func(id, parent, text string) string {
		return `{"type":"message","id":"` + id + `","parentId":"` + parent + `","message":{"role":"user","content":"` + text + `"}}` + "\n"
	}
	for _, dialect := range []Dialect{Xcsh, Pi, Omp} {
		for name, more := range map[string]string{
			"a parent": line("cccccccc", "aaaaaaaa", "between"),
			"an id":    line("dddddddd", "", "another root"),
		} {
			t.Run(dialect.String()+", "+name, func(t *testing.T) {
				t.Parallel()
				g := newGrower(t, 1, dialect)
				g.foreign(line("aaaaaaaa", "", "first"))
				g.foreign(line("dddddddd", "aaaaaaaa", "second") + line("bbbbbbbb", map[bool]string{true: "cccccccc", false: "dddddddd"}[name == "a parent"], "leaf"))
				require.NoError(t, g.log.Branch("bbbbbbbb"))
				g.check()
				g.foreign(more)
				require.Equal(t, "bbbbbbbb", g.log.LeafID())
				g.check()
				_, err := g.log.Append(DraftMessage(json.RawMessage(g.message())))
				require.NoError(t, err)
				g.check()
			})
		}
	}
}
