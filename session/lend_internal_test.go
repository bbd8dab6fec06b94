package session

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/racetest"
	indexmode "github.com/xcsh-ls/xcsh-ls/internal/sessiontest/indexed"
)

// borrower is a program that appends to a session as pi does: without a lock, a line at a time.
type borrower struct {
	t    *testing.T
	r    *rand.Rand
	path string
	rest string // of a line that it is writing
}

func (b *borrower) write(text string) {
	b.t.Helper()
	f, err := os.OpenFile(b.path, os.O_APPEND|os.O_WRONLY, 0o600)
	require.NoError(b.t, err)
	_, err = f.WriteString(text)
	require.NoError(b.t, err)
	require.NoError(b.t, f.Close())
}

// line appends a line, now and then only the beginning or the rest of one. It reports whether the file ends with a
// complete line.
func (b *borrower) line(line string) (whole bool) {
	b.t.Helper()
	text := b.rest + line + "\n"
	if b.rest != "" {
		text = b.rest
	}
	b.rest = ""
	if len(text) > 1 && b.r.IntN(5) == 0 {
		at := 1 + b.r.IntN(len(text)-1)
		text, b.rest = text[:at], text[at:]
	}
	b.write(text)
	return b.rest == ""
}

// All that is known of a session while it is lent is what reading its file whole yields, whatever the program appends,
// whenever it is looked at, at whatever leaf, and also once it was returned. Each entry is caught once.
func TestALentSessionIsWhatItsFileSays(t *testing.T) {
	racetest.Large(t)
	indexEverything(t)
	caughtMax, sessions := maxCaught, uint64(30)
	defer func() { maxCaught = caughtMax }()
	if os.Getenv("XCSH_SOAK") != "" {
		sessions = 600
	}
	for seed := range sessions {
		if maxCaught = caughtMax; seed%5 == 0 {
			maxCaught = 300 // several lines are read like a file that is opened
		}
		lendAtRandom(t, seed)
	}
}

func lendAtRandom(t *testing.T, seed uint64) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 11))
	m := &lineMaker{r: r, d: Dialect(seed % 3), twice: seed%7 == 0}
	content := m.head()
	for range r.IntN(100) {
		content += m.line() + "\n"
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "s.jsonl")
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	s := NewStore(StoreConfig{
		Fs: afero.NewOsFs(), IndexDir: filepath.Join(dir, "index"), LockDir: filepath.Join(dir, "locks"),
		RootFor: func(string) (FileRoot, bool) { return FileRoot{Dialect: m.d}, true },
		Now:     func() time.Time { return time.Now().Add(time.Minute) },
	})
	l, err := s.Open(path)
	require.NoError(t, err)
	if seed%2 == 0 {
		l.Hold()() // the context is kept from now on
	}
	b := &borrower{t: t, r: r, path: path}
	for range 2 {
		lent, err := l.Lend("pi")
		require.NoError(t, err)
		known, seen := l.doc.Len(), 0
		for range 40 {
			whole := b.line(m.line())
			switch r.IntN(4) {
			case 0:
				_, err := l.Refresh()
				require.NoError(t, err)
			case 1:
				entries, err := lent.Catch()
				require.NoError(t, err)
				seen += len(entries)
				if len(entries) > 0 && r.IntN(2) == 0 {
					e := entries[r.IntN(len(entries))]
					lent.Leaf(e.ID)
					require.True(t, e.ID == "" || l.doc.ID(l.leaf) == e.ID)
				}
				if whole {
					requireWholeAs(t, l, m.d, r, seed)
				}
			}
		}
		if b.rest != "" {
			b.write(b.rest)
			b.rest = ""
		}
		entries, err := lent.Catch()
		require.NoError(t, err)
		require.Equal(t, l.doc.Len()-known, seen+len(entries), "seed %d: each entry once", seed)
		requireWholeAs(t, l, m.d, r, seed)
		require.NoError(t, lent.Return())
		use(t, l, path, r)
		_, err = l.Refresh()
		require.NoError(t, err)
		requireWholeAs(t, l, m.d, r, seed)
	}
	require.NoError(t, l.Close())
}

// requireWholeAs is requireWhole for a session of a dialect, and also compares the title and the context of the leaf.
func requireWholeAs(t *testing.T, l *Log, d Dialect, r *rand.Rand, seed uint64) {
	t.Helper()
	fresh, err := load(l.store.Fs, l.path, &d)
	require.NoError(t, err)
	require.Equal(t, fresh.Len(), l.doc.Len(), "seed %d", seed)
	require.Equal(t, fresh.Title(), l.doc.Title(), "seed %d", seed)
	for range 2 {
		leaf := atPlace(r.IntN(max(1, fresh.Len())))
		if fresh.Len() == 0 {
			leaf = AtRoot()
		}
		want, got := viewOf(t, fresh, leaf), viewOf(t, l.doc, leaf)
		for _, name := range notOfALog {
			delete(want, name)
			delete(got, name)
		}
		require.Equal(t, want, got, "seed %d", seed)
	}
	want, wantProblems, err := BuildContext(fresh, atPlace(l.leaf), nil)
	require.NoError(t, err)
	state, err := l.ContextState()
	require.NoError(t, err)
	got, problems, err := l.Context()
	require.NoError(t, err)
	require.Equal(t, want, got, "seed %d", seed)
	require.Equal(t, wantProblems, problems, "seed %d", seed)
	require.Equal(t, want.State(), state, "seed %d", seed)
	require.NoError(t, fresh.Close())
}

// ofALent says what each method of a Log does while the session is lent: those that would write to it or move its leaf
// are refused with Busy, and the others work. A method that is missing here fails the test.
var ofALent = map[string]struct {
	refused bool
	call    func(s *Store, l *Log, id string) error
}{
	"Append":            {true, writes["Append"]},
	"AppendAt":          {true, writes["AppendAt"]},
	"AppendModel":       {true, writes["AppendModel"]},
	"Branch":            {true, writes["Branch"]},
	"BranchWithSummary": {true, writes["Summary"]},
	"Claim":             {true, func(_ *Store, l *Log, _ string) error { return l.Claim() }},
	"EnsureOnDisk":      {true, writes["EnsureOnDisk"]},
	"Lend":              {true, func(_ *Store, l *Log, _ string) error { _, err := l.Lend("omp"); return err }},
	"ResetLeaf":         {true, writes["ResetLeaf"]},
	"SetDescription":    {true, writes["SetDescription"]},
	"SetLabel":          {true, writes["SetLabel"]},
	"SetTitle":          {true, writes["SetTitle"]},

	"Context":         {call: func(_ *Store, l *Log, _ string) error { _, _, err := l.Context(); return err }},
	"ContextProblems": {call: func(_ *Store, l *Log, _ string) error { _, err := l.ContextProblems(); return err }},
	"ContextState":    {call: func(_ *Store, l *Log, _ string) error { _, err := l.ContextState(); return err }},
	"Err":             {call: func(_ *Store, l *Log, _ string) error { return l.Err() }},
	"Flush":           {call: func(_ *Store, l *Log, _ string) error { return l.Flush() }},
	"ForeignBranch":   {call: func(_ *Store, l *Log, _ string) error { l.ForeignBranch(); return nil }},
	"Header":          {call: func(_ *Store, l *Log, _ string) error { l.Header(); return nil }},
	"Hold":            {call: writes["Hold"]},
	"IsLent":          {call: func(_ *Store, l *Log, _ string) error { l.IsLent(); return nil }},
	"NewEntryID":      {call: func(_ *Store, l *Log, _ string) error { l.NewEntryID(); return nil }},
	"LeafID":          {call: func(_ *Store, l *Log, _ string) error { l.LeafID(); return nil }},
	"OnDisk":          {call: func(_ *Store, l *Log, _ string) error { l.OnDisk(); return nil }},
	"Path":            {call: func(_ *Store, l *Log, _ string) error { l.Path(); return nil }},
	"Persistent":      {call: func(_ *Store, l *Log, _ string) error { l.Persistent(); return nil }},
	"Refresh":         {call: func(_ *Store, l *Log, _ string) error { _, err := l.Refresh(); return err }},
	"Settled":         {call: writes["Settled"]},
	"Title":           {call: func(_ *Store, l *Log, _ string) error { l.Title(); return nil }},
	"View": {call: func(_ *Store, l *Log, _ string) error {
		return l.View(func(*Document, Leaf) error { return nil })
	}},
	"Close": {call: func(_ *Store, l *Log, _ string) error { return l.Close() }},

	// Methods of a Store that take a Log.
	"Store.Fork":   {call: writes["Fork"]},
	"Store.ForkAt": {call: writes["ForkAt"]},
	"Store.Keep":   {call: func(s *Store, l *Log, _ string) error { return onlyOf(fault.Internal, second(s.Keep(l))) }},
}

func second[T any](_ T, err error) error { return err }

// onlyOf passes over an error of a kind.
func onlyOf(k fault.Kind, err error) error {
	if fault.Is(err, k) {
		return nil
	}
	return err
}

// While a session is lent nothing of ours gets into its file, whichever method is called, in each place where titles and
// entries go. The list of methods is complete.
func TestNothingWritesALentSession(t *testing.T) {
	t.Parallel()
	require.ElementsMatch(t, methodsOfALog(), keys(ofALent))
	slot := `{"type":"title","v":1,"title":"T","source":"auto","updatedAt":"2026-01-01T00:00:00.000Z","pad":"`
	slot += strings.Repeat(" ", titleSlotSize-len(slot)-3) + "\"}\n"
	for name, c := range ofALent {
		for _, beginning := range []string{"", slot} {
			for dialect := range Omp + 1 {
				dir := t.TempDir()
				s, path := lendingStore(dir, dialect), filepath.Join(dir, "s.jsonl")
				content := beginning + lentContent
				require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
				l, err := s.Open(path)
				require.NoError(t, err)
				lent, err := l.Lend("pi")
				require.NoError(t, err)
				leaf := l.LeafID()
				err = c.call(s, l, "aaaaaaaa")
				require.Equal(t, c.refused, fault.Is(err, fault.Busy), "%s: %v", name, err)
				if c.refused {
					require.ErrorContains(t, err, "pi has this session")
				} else {
					require.NoError(t, err, name)
				}
				after, err := os.ReadFile(path)
				require.NoError(t, err)
				require.Equal(t, content, string(after), name)
				require.Equal(t, leaf, l.LeafID(), name)
				require.NoError(t, lent.Return(), name)
				require.NoError(t, l.Close())
				after, err = os.ReadFile(path)
				require.NoError(t, err)
				require.Equal(t, content, string(after), "%s: nothing was kept for later", name)
			}
		}
	}
}

const lentContent = `{"type":"session","version":3,"id":"0123456789abcdef","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}
{"type":"message","id":"aaaaaaaa","parentId":null,"timestamp":"2026-01-01T00:00:01.000Z","message":{"role":"user","content":"one"}}
{"type":"message","id":"bbbbbbbb","parentId":"aaaaaaaa","timestamp":"2026-01-01T00:00:02.000Z","message":{"role":"assistant","content":"two"}}
`

func lendingStore(dir string, d Dialect) *Store {
	return NewStore(StoreConfig{
		Fs: afero.NewOsFs(), LockDir: filepath.Join(dir, "locks"), DirFor: func(string) (string, error) { return filepath.Join(dir, "forks"), nil },
		RootFor: func(string) (FileRoot, bool) { return FileRoot{Dialect: d}, true },
	})
}

func keys[V any](m map[string]V) (names []string) {
	for name := range m {
		names = append(names, name)
	}
	return names
}

func methodsOfALog() (names []string) {
	log := reflect.TypeFor[*Log]()
	for m := range log.Methods() {
		names = append(names, m.Name)
	}
	for m := range reflect.TypeFor[*Store]().Methods() {
		for in := range m.Type.Ins() {
			if in == log {
				names = append(names, "Store."+m.Name)
			}
		}
	}
	return names
}

// The functions that write refuse by themselves too, so that a new method that forgets to ask writes nothing.
func TestTheWritersThemselvesRefuse(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s, path := lendingStore(dir, Xcsh), filepath.Join(dir, "s.jsonl")
	require.NoError(t, os.WriteFile(path, []byte(lentContent), 0o600))
	l, err := s.Open(path)
	require.NoError(t, err)
	lent, err := l.Lend("pi")
	require.NoError(t, err)
	l.mu.Lock()
	l.add(draftLabel("aaaaaaaa", "x"))
	for name, write := range map[string]func() error{
		"persist":       func() error { return l.persist(true) },
		"append":        l.appendMissing,
		"append once":   l.appendUnsaved,
		"create":        l.create,
		"rewrite":       func() error { return l.rewrite(l.doc.HeaderLine()) },
		"overwriteSlot": func() error { return second(l.overwriteSlot(Title{Text: "x"})) },
		"storeTitle":    func() error { return second(l.storeTitle(Title{Text: "x"})) },
	} {
		require.True(t, fault.Is(write(), fault.Busy), name)
		after, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, lentContent, string(after), name)
	}
	l.unsaved, l.err = nil, nil
	l.mu.Unlock()
	require.NoError(t, lent.Return())
	require.NoError(t, l.Close())
}

var errFull = errors.New("no space")

// newSession returns a new session without a file, with settings.
func newSession(t *testing.T, s *Store) *Log {
	t.Helper()
	l, err := s.Create("/w", NewOptions{})
	require.NoError(t, err)
	_, err = l.AppendModel("p", "m", "")
	require.NoError(t, err)
	_, err = l.Append(DraftSetting(TypeThinkingLevel, []byte(`"high"`)))
	require.NoError(t, err)
	return l
}

// The program makes the file of a new session: where it says, with our id. What it writes replaces the settings that
// were chosen before.
func TestTheFileOfANewSessionIsAwaited(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := lendingStore(dir, Pi)
	l := newSession(t, s)
	home, path := l.Path(), filepath.Join(dir, "theirs.jsonl")
	lent, err := l.Lend("pi")
	require.NoError(t, err)
	require.True(t, lent.Awaited())
	require.NoError(t, lent.At(path))
	require.Equal(t, path, l.Path())
	require.Contains(t, keys(s.Owners()), path, "the lock names the file")

	catch := func() []Entry {
		entries, err := lent.Catch()
		require.NoError(t, err)
		return entries
	}
	require.Empty(t, catch())
	header := strings.Replace(strings.SplitAfter(lentContent, "\n")[0], "0123456789abcdef", l.Header().ID, 1)
	first := strings.SplitAfter(lentContent, "\n")[1]
	for _, part := range []string{"", header[:20]} {
		require.NoError(t, os.WriteFile(path, []byte(part), 0o600))
		require.Empty(t, catch())
		require.True(t, lent.Awaited())
		require.Equal(t, 2, l.doc.Len(), "the settings are still there")
	}
	b := &borrower{t: t, path: path}
	b.write(header[20:] + first[:30])
	require.Empty(t, catch())
	lent.Leaf("aaaaaaaa") // which is not there yet
	b.write(first[30:])
	entries := catch()
	require.Len(t, entries, 1)
	require.Equal(t, "user", entries[0].Role())
	require.JSONEq(t, `{"role":"user","content":"one"}`, string(entries[0].Message()))
	require.False(t, lent.Awaited())
	require.True(t, l.OnDisk())
	require.Equal(t, "aaaaaaaa", l.LeafID())
	require.Equal(t, 1, l.doc.Len())
	require.Equal(t, Pi, l.doc.Dialect())
	require.True(t, fault.Is(lent.At(home), fault.Stale))
	require.NoError(t, lent.At(path))

	require.NoError(t, lent.Return())
	id, err := l.Append(DraftMessage([]byte(`{"role":"assistant","content":[]}`)))
	require.NoError(t, err)
	require.NoError(t, l.Close())
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(string(content), header+first))
	require.Contains(t, string(content), id)
	require.NoFileExists(t, home)
}

// A file that never appears, or that is that of another session, leaves the new session as it was.
func TestANewSessionThatWasNotBegunIsAsBefore(t *testing.T) {
	t.Parallel()
	for name, content := range map[string]string{
		"none": "", "another": lentContent, "half": `{"type":"sess`, "no header": strings.SplitAfter(lentContent, "\n")[1],
	} {
		dir := t.TempDir()
		s := lendingStore(dir, Xcsh)
		l := newSession(t, s)
		home, path := l.Path(), filepath.Join(dir, "theirs.jsonl")
		lent, err := l.Lend("pi")
		require.NoError(t, err)
		require.NoError(t, lent.At(path))
		if content != "" {
			require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
		}
		_, err = lent.Catch()
		require.Equal(t, name == "another" || name == "no header", fault.Is(err, fault.Stale), "%s: %v", name, err)
		err = lent.Return()
		require.Equal(t, name != "none", fault.Is(err, fault.Stale), "%s: %v", name, err)
		require.Equal(t, home, l.Path())
		require.Contains(t, keys(s.Owners()), home)
		require.NotContains(t, keys(s.Owners()), path)

		_, err = l.Append(DraftMessage([]byte(`{"role":"user","content":"x"}`)))
		require.NoError(t, err)
		require.NoError(t, l.EnsureOnDisk())
		require.NoError(t, l.Close())
		doc, err := s.Load(home)
		require.NoError(t, err)
		require.Equal(t, 3, doc.Len(), "the settings, too")
		if content != "" {
			after, err := os.ReadFile(path)
			require.NoError(t, err)
			require.Equal(t, content, string(after))
		}
	}
}

// A new session that holds more than settings is written before it is lent.
func TestWhatWasSaidIsWrittenBeforeItIsLent(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		o    NewOptions
		more func(l *Log) error
	}{
		"message":     {more: func(l *Log) error { return second(l.Append(DraftMessage([]byte(`{"role":"user","content":"x"}`)))) }},
		"custom":      {more: func(l *Log) error { return second(l.Append(DraftCustom("hook", []byte(`{}`)))) }},
		"title":       {o: NewOptions{Title: "T"}},
		"renamed":     {more: func(l *Log) error { return second(l.SetTitle(Title{Text: "T", Source: "user"})) }},
		"description": {more: func(l *Log) error { return second(l.SetDescription("x")) }},
		"parent":      {o: NewOptions{Parent: "/p.jsonl"}},
	} {
		dir := t.TempDir()
		s := lendingStore(dir, Xcsh)
		l, err := s.Create("/w", c.o)
		require.NoError(t, err)
		if c.more != nil {
			require.NoError(t, c.more(l))
		}
		require.False(t, l.OnDisk())
		n := l.doc.Len()
		lent, err := l.Lend("pi")
		require.NoError(t, err)
		require.False(t, lent.Awaited(), name)
		require.True(t, l.OnDisk(), name)
		doc, err := s.Load(l.Path())
		require.NoError(t, err)
		require.Equal(t, n, doc.Len(), name)
		require.NoError(t, lent.Return())
		require.NoError(t, l.Close())
	}
}

// The file of a lent session that is removed, replaced or truncated is reported as such, and nothing is lost.
// Proves: EF-24, EF-25
func TestALentFileThatIsNoLongerThere(t *testing.T) {
	t.Parallel()
	line := func(id, parent string) string {
		return fmt.Sprintf(`{"type":"message","id":%q,"parentId":%q,"timestamp":"2026-01-01T00:00:03.000Z","message":{"role":"user","content":%[1]q}}`+"\n", id, parent)
	}
	for name, c := range map[string]struct {
		change func(path string) error
		kind   fault.Kind
		broken bool // the session cannot be written any more
		want   []string
	}{
		"removed": {os.Remove, fault.NotFound, false, []string{"aaaaaaaa", "bbbbbbbb", "c0000001"}},
		"removed, and the program goes on": {func(path string) error {
			return errors.Join(os.Remove(path), os.WriteFile(path, []byte(line("c0000002", "c0000001")+line("c0000003", "c0000002")), 0o600))
		}, fault.Stale, false, []string{"aaaaaaaa", "bbbbbbbb", "c0000001", "c0000002", "c0000003"}},
		// The system may give the new file the number of the old one.
		"removed, and the program goes on in a file of the same number, which is longer": {func(path string) error {
			return os.WriteFile(path, []byte(line("c0000002", "c0000001")+line("c0000003", "c0000002")+strings.Repeat("\n", 2*len(lentContent))), 0o600)
		}, fault.Stale, false, []string{"aaaaaaaa", "bbbbbbbb", "c0000001", "c0000002", "c0000003"}},
		"removed, and something else is there": {func(path string) error {
			return errors.Join(os.Remove(path), os.WriteFile(path, []byte(line("c0000002", "unknown")), 0o600))
		}, fault.Stale, true, nil},
		"replaced by an older state": {func(path string) error {
			return errors.Join(os.WriteFile(path+"2", []byte(lentContent), 0o600), os.Rename(path+"2", path))
		}, fault.Stale, false, []string{"aaaaaaaa", "bbbbbbbb"}},
		"replaced by another session": {func(path string) error {
			other := strings.Replace(lentContent, "0123456789abcdef", "1123456789abcdef", 1)
			return errors.Join(os.WriteFile(path+"2", []byte(other), 0o600), os.Rename(path+"2", path))
		}, fault.Stale, true, nil},
		"truncated": {func(path string) error { return os.Truncate(path, int64(len(lentContent))) }, fault.Stale, false, []string{"aaaaaaaa", "bbbbbbbb"}},
		"truncated, and the program goes on": {func(path string) error {
			f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
			_, writeErr := f.WriteString(line("c0000002", "c0000001") + strings.Repeat(" ", 200) + "\n")
			return errors.Join(err, os.Truncate(path, int64(len(lentContent))), writeErr, f.Close(), os.WriteFile(path, []byte(lentContent+line("c0000002", "bbbbbbbb")+strings.Repeat("\n", 90)), 0o600))
		}, fault.Stale, false, []string{"aaaaaaaa", "bbbbbbbb", "c0000002"}},
	} {
		t.Run(name, func(t *testing.T) {
			if strings.Contains(name, "the same number") { // an open file keeps its number, so that no other can have it
				indexmode.NeedsContentInMemory(t)
			}
			dir := t.TempDir()
			s, path := lendingStore(dir, Pi), filepath.Join(dir, "s.jsonl")
			require.NoError(t, os.WriteFile(path, []byte(lentContent), 0o600))
			l, err := s.Open(path)
			require.NoError(t, err)
			lent, err := l.Lend("pi")
			require.NoError(t, err)
			(&borrower{t: t, path: path}).write(line("c0000001", "bbbbbbbb"))
			entries, err := lent.Catch()
			require.NoError(t, err)
			require.Len(t, entries, 1)
			require.NoError(t, c.change(path), name)
			for range 2 {
				entries, err = lent.Catch()
				require.Equal(t, c.kind, fault.KindOf(err), "%s: %v", name, err)
				require.Empty(t, entries)
				require.Equal(t, 3, l.doc.Len(), "%s: the session stays in memory", name)
			}
			before, readErr := os.ReadFile(path)
			err = lent.Return()
			if c.broken {
				require.True(t, fault.Is(err, fault.Stale), "%s: %v", name, err)
				_, err = l.Append(DraftCustom("test", []byte(`{}`)))
				require.Error(t, err)
				_ = l.Close()
				after, err := os.ReadFile(path)
				require.NoError(t, errors.Join(err, readErr))
				require.Equal(t, string(before), string(after), name)
				return
			}
			require.NoError(t, err, name)
			require.NoError(t, l.EnsureOnDisk(), name)
			require.NoError(t, l.Close())
			doc, err := s.Load(path)
			require.NoError(t, err)
			var ids []string
			for i := range doc.Len() {
				ids = append(ids, doc.ID(i))
			}
			require.Equal(t, c.want, ids, name)
			require.Equal(t, "0123456789abcdef", doc.Header().ID)
		})
	}
}

// When lending fails, nothing is lent, and what is not saved is kept and written later.
func TestLendingThatFails(t *testing.T) {
	t.Parallel()
	half := lentContent + `{"type":"mess`
	older := strings.Replace(lentContent, `"version":3`, `"version":2`, 1)
	for name, c := range map[string]struct {
		content string
		append  bool
	}{
		"line end": {half, false}, "unsaved": {lentContent, true}, "unsaved behind a half line": {half, true}, "older format": {older, false},
		"new": {"", true},
	} {
		fired := 0
		for at := 1; at < 40; at++ {
			dir := t.TempDir()
			path := filepath.Join(dir, "s.jsonl")
			fs := &failing{Fs: afero.NewOsFs()}
			s := lendingStore(dir, Xcsh)
			s.Fs = fs
			l, err := s.Create("/w", NewOptions{})
			require.NoError(t, err)
			if c.content != "" {
				require.NoError(t, l.Close())
				require.NoError(t, os.WriteFile(path, []byte(c.content), 0o600))
				l, err = s.Open(path)
				require.NoError(t, err)
			}
			path = l.Path()
			id := ""
			if c.append {
				fs.always = c.content != ""
				id, err = l.Append(DraftCustom("test", []byte(`{}`)))
				require.Equal(t, fs.always, err != nil, err)
				fs.always = false
			}
			fs.at = at
			lent, err := l.Lend("pi")
			failed := fs.at <= 0
			fs.at = 0
			if failed {
				fired++
			}
			if err != nil {
				require.True(t, failed, "%s: %v", name, err)
				require.ErrorIs(t, err, errFull)
				require.Nil(t, lent)
				require.Nil(t, l.lent)
				lent, err = l.Lend("pi")
			}
			require.NoError(t, err, "%s at %d", name, at)
			after, err := os.ReadFile(path)
			require.NoError(t, err)
			require.True(t, strings.HasSuffix(string(after), "\n"), "%s at %d", name, at)
			require.Contains(t, string(after), id)
			_, body, _ := strings.Cut(c.content, "\n")
			require.Contains(t, string(after), body)
			doc, err := s.Load(path)
			require.NoError(t, err)
			require.Equal(t, l.doc.Len(), doc.Len())
			require.Equal(t, CurrentVersion, doc.Header().Version)
			require.NoError(t, lent.Return())
			require.NoError(t, l.Close())
			if !failed {
				break
			}
		}
		require.Positive(t, fired, name)
	}
}

// failing is a file system on which operation number at that changes a session fails.
type failing struct {
	afero.Fs
	at     int
	always bool
}

func (f *failing) step(name string) error {
	if !strings.Contains(name, ".jsonl") || strings.HasSuffix(name, ".lock") {
		return nil
	}
	if f.at--; f.always || f.at == 0 {
		return errFull
	}
	return nil
}

func (f *failing) OpenFile(name string, flag int, mode os.FileMode) (afero.File, error) {
	if err := f.step(name); err != nil {
		return nil, &os.PathError{Op: "open", Path: name, Err: err}
	}
	file, err := f.Fs.OpenFile(name, flag, mode)
	return &failingFile{file, f}, err
}

func (f *failing) Rename(from, to string) error {
	if err := f.step(to); err != nil {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
	}
	return f.Fs.Rename(from, to)
}

type failingFile struct {
	afero.File
	fs *failing
}

func (f *failingFile) Write(b []byte) (int, error) {
	if err := f.fs.step(f.Name()); err != nil {
		half, _ := f.File.Write(b[:len(b)/2])
		return half, err
	}
	return f.File.Write(b)
}

func (f *failingFile) Sync() error {
	if err := f.fs.step(f.Name()); err != nil {
		return err
	}
	return f.File.Sync()
}

// A session that is in memory, closed, from a newer program or already lent cannot be lent.
func TestWhatCannotBeLent(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s, path := lendingStore(dir, Xcsh), filepath.Join(dir, "s.jsonl")
	lend := func(l *Log) fault.Kind { return fault.KindOf(second(l.Lend("pi"))) }
	require.Equal(t, fault.NotPersistent, lend(s.Memory("/w", NewOptions{})))
	require.NoError(t, os.WriteFile(path, []byte(strings.Replace(lentContent, `"version":3`, `"version":4`, 1)), 0o600))
	l, err := s.Open(path)
	require.NoError(t, err)
	require.Equal(t, fault.NewerVersion, lend(l))
	require.NoError(t, l.Close())
	require.NoError(t, os.WriteFile(path, []byte(lentContent), 0o600))
	l, err = s.Open(path)
	require.NoError(t, err)
	lent, err := l.Lend("pi")
	require.NoError(t, err)
	require.Equal(t, fault.Busy, lend(l))
	require.NoError(t, l.Close())
	require.Equal(t, fault.Stale, lend(l))
	_, err = lent.Catch()
	require.True(t, fault.Is(err, fault.Stale), err)
	require.NoError(t, lent.Return())
	require.NoError(t, lent.Return())
	entries, err := lent.Catch()
	require.NoError(t, err)
	require.Empty(t, entries)
	require.Empty(t, s.Owners())
}

// Until the program says where its leaf is, the leaf is where it appends; then it is where it says, and below.
func TestTheLeafOfALentSession(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s, path := lendingStore(dir, Pi), filepath.Join(dir, "s.jsonl")
	require.NoError(t, os.WriteFile(path, []byte(lentContent), 0o600))
	l, err := s.Open(path)
	require.NoError(t, err)
	require.NoError(t, l.Branch("aaaaaaaa")) // of which the program knows nothing
	release := l.Hold()                      // during a run
	defer release()
	lent, err := l.Lend("pi")
	require.NoError(t, err)
	b := &borrower{t: t, path: path}
	line := func(id, parent string) {
		b.write(fmt.Sprintf(`{"type":"message","id":%q,"parentId":%q,"timestamp":"2026-01-01T00:00:03.000Z","message":{"role":"user","content":"x"}}`+"\n", id, parent))
		_, err := lent.Catch()
		require.NoError(t, err)
	}
	require.Equal(t, "aaaaaaaa", l.LeafID())
	line("c0000001", "bbbbbbbb")
	require.Equal(t, "c0000001", l.LeafID(), "the program began at the end of the file")
	lent.Leaf("aaaaaaaa")
	require.Equal(t, "aaaaaaaa", l.LeafID())
	line("c0000002", "c0000001")
	require.Equal(t, "aaaaaaaa", l.LeafID(), "another program's")
	branch, ok := l.ForeignBranch()
	require.True(t, ok)
	require.Equal(t, "c0000002", branch.End)
	line("c0000003", "aaaaaaaa")
	require.Equal(t, "c0000003", l.LeafID())
	lent.Leaf("c0000004")
	require.Equal(t, "c0000003", l.LeafID(), "it is not there yet")
	line("c0000005", "c0000003")
	require.Equal(t, "c0000005", l.LeafID())
	line("c0000004", "c0000001")
	require.Equal(t, "c0000004", l.LeafID())
	lent.Leaf("")
	require.Empty(t, l.LeafID())
	require.NoError(t, lent.Return())
	_, err = l.Append(DraftCustom("test", []byte(`{}`)))
	require.NoError(t, err)
	require.NoError(t, l.Close())
}

// A leaf that the program chose stays when so much is appended that the file is read again, whoever appended it.
func TestTheLeafOfALentSessionThatIsReadAgain(t *testing.T) {
	limit := maxCaught
	maxCaught = 100
	defer func() { maxCaught = limit }()
	dir := t.TempDir()
	s, path := lendingStore(dir, Pi), filepath.Join(dir, "s.jsonl")
	require.NoError(t, os.WriteFile(path, []byte(lentContent), 0o600))
	l, err := s.Open(path)
	require.NoError(t, err)
	lent, err := l.Lend("pi")
	require.NoError(t, err)
	lent.Leaf("aaaaaaaa")
	b := &borrower{t: t, path: path}
	for _, c := range []struct{ id, parent, want string }{
		{"c0000001", "bbbbbbbb", "aaaaaaaa"}, {"c0000002", "aaaaaaaa", "c0000002"}, {"c0000003", "c0000001", "c0000002"}, {"c0000004", "c0000002", "c0000004"},
	} {
		doc := l.doc
		b.write(fmt.Sprintf(`{"type":"message","id":%q,"parentId":%q,"timestamp":"2026-01-01T00:00:03.000Z","message":{"role":"user","content":"x"}}`+"\n", c.id, c.parent))
		entries, err := lent.Catch()
		require.NoError(t, err)
		require.Len(t, entries, 1)
		require.NotSame(t, doc, l.doc, "it was read again")
		require.Equal(t, c.want, l.LeafID())
	}
	require.NoError(t, lent.Return())
	require.NoError(t, l.Close())
}

// A rename by omp, which overwrites the title slot, is seen with the entry that records it.
func TestARenameInTheSlotIsSeen(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s, path := lendingStore(dir, Omp), filepath.Join(dir, "s.jsonl")
	slot := titleSlot(Title{Text: "Before", Source: "auto"}, "2026-01-01T00:00:00.000Z")
	require.NoError(t, os.WriteFile(path, append(slot, lentContent...), 0o600))
	l, err := s.Open(path)
	require.NoError(t, err)
	lent, err := l.Lend("omp")
	require.NoError(t, err)
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	require.NoError(t, err)
	_, err = f.WriteAt(titleSlot(Title{Text: "After", Source: "user"}, "2026-01-01T00:00:09.000Z"), 0)
	require.NoError(t, err)
	_, err = f.Seek(0, io.SeekEnd)
	require.NoError(t, err)
	_, err = f.WriteString(`{"type":"title_change","id":"c0000001","parentId":"bbbbbbbb","timestamp":"2026-01-01T00:00:09.000Z","title":"After"}` + "\n")
	require.NoError(t, err)
	require.NoError(t, f.Close())
	entries, err := lent.Catch()
	require.NoError(t, err)
	require.Len(t, entries, 1)
	require.Equal(t, Title{Text: "After", Source: "user"}, l.Title())
	require.NoError(t, lent.Return())
	require.NoError(t, l.Close())
}
