package session_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
	"github.com/xcsh-ls/xcsh-ls/internal/sessiontest/kit"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/paging"
)

// FuzzLoadRewrite opens arbitrary bytes as a session, appends to it and renames it: every
// byte except those of the title is preserved, in order, and a fresh reader sees every
// entry.
// Proves, F-01, F-15
func FuzzLoadRewrite(f *testing.F) {
	for _, lines := range []string{
		kit.Conversation(),
		"\xEF\xBB\xBF \n" + kit.Conversation() + "junk\n\n\x00\x00",
		strings.Replace(kit.Conversation(), `"version":3`, `"version":1`, 1),
		strings.Replace(kit.Conversation(), "0123456789abcdef", "11111111-2222-3333-4444-555555555555", 1),
		strings.Replace(kit.Conversation(), "{", `{"title":"old","titleSource":"auto",`, 1),
		`{"type":"title","v":1,"title":"t","updatedAt":"","pad":"` + strings.Repeat(" ", 197) + "\"}\n" + kit.Conversation(),
	} {
		f.Add([]byte(lines), "a title")
		f.Add([]byte(lines[:len(lines)-20]), " \x00\ttitle 😀\xff")
	}
	f.Fuzz(func(t *testing.T, before []byte, title string) {
		fs := afero.NewMemMapFs()
		kit.Put(t, fs, kit.Filed, string(before))
		l, err := kit.NewStore(fs).Open(kit.Filed)
		if err != nil {
			require.Equal(t, string(before), kit.Content(t, fs, kit.Filed))
			return
		}
		old, err := session.Parse(before)
		require.NoError(t, err)
		if old.Header().Version > session.CurrentVersion {
			_, err := l.Append(kit.Say("user", "one"))
			require.True(t, fault.Is(err, fault.NewerVersion))
			require.Equal(t, string(before), kit.Content(t, fs, kit.Filed))
			return
		}
		added := []string{kit.MustAppend(t, l, kit.Say("user", "one")), kit.MustAppend(t, l, kit.Say("assistant", "two"))}
		_, err = l.SetTitle(session.Title{Text: title, Source: "user"})
		renamed := err == nil
		if !renamed && session.CleanTitle(title) != "" {
			// A title slot of the wrong size is left alone.
			require.True(t, fault.Is(err, fault.Stale), "%v", err)
		}
		added = append(added, kit.MustAppend(t, l, kit.Say("user", "three")))
		require.NoError(t, l.Close())

		after, err := session.Load(fs, kit.Filed)
		require.NoError(t, err)
		requireEntriesKept(t, old, after, added)
		if old.Header().Version == session.CurrentVersion {
			requireBytesKept(t, old, after, before, []byte(kit.Content(t, fs, kit.Filed)))
		}
		if renamed && !strings.ContainsRune(session.CleanTitle(title), utf8.RuneError) && len(title) < 40 {
			require.Equal(t, session.CleanTitle(title), after.Title().Text)
		}
	})
}

// requireEntriesKept requires that after has the entries of old, then those added and those
// that a rename adds.
func requireEntriesKept(t *testing.T, old, after *session.Document, added []string) {
	t.Helper()
	for i := range old.Len() {
		was, err := old.Entry(i)
		require.NoError(t, err)
		is, err := after.Entry(i)
		require.NoError(t, err)
		require.Equal(t, was, is)
	}
	var found []string
	for i := old.Len(); i < after.Len(); i++ {
		if slices.Contains(added, after.ID(i)) {
			found = append(found, after.ID(i))
		}
	}
	require.Equal(t, added, found)
	require.LessOrEqual(t, after.Len(), old.Len()+len(added)+1)
}

// requireBytesKept requires that after is before with another header or title slot, and
// with more after it.
func requireBytesKept(t *testing.T, old, now *session.Document, before, after []byte) {
	t.Helper()
	was, is := old.Header().Raw, now.Header().Raw
	at := bytes.Index(before, was)
	require.GreaterOrEqual(t, bytes.Index(after, is), at)
	if !bytes.Equal(before[:at], after[:at]) {
		const slot = 256 // bytes, the only ones a rename may write over
		require.Contains(t, string(before[:slot]), `"title"`)
		require.Equal(t, string(before[slot:at]), string(after[slot:at]))
	}
	require.True(t, bytes.HasPrefix(after[at:], is))
	require.True(t, bytes.HasPrefix(after[at+len(is):], before[at+len(was):]), "bytes behind the header have changed")
}

// FuzzBuildContext makes a tree of entries of all types out of the fuzzer's bytes, with
// cycles, duplicate ids and missing parents, and compares the context with one built by a
// simple reference implementation.
// Proves, P-013, P-014, F-20
func FuzzBuildContext(f *testing.F) {
	f.Add([]byte("\x00" + strings.Repeat("\x00\x00\x00\x00\x00", 4)))
	f.Add([]byte("\x01\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x07\x00\x00\x01\x01\x00\x00\x00\x00\x02\x02\x00\x00\x00\x01"))
	f.Add([]byte("\x02\x00\x00\x00\x00\x01\x00\x00\x00\x00\x02\x0c\x00\x00\x00\x00\x00\x00\x00\x00\x03\x01\x00\x00\x00\x04"))
	f.Add([]byte("\x00\x00\x00\x81\x01\x00\x00\x00\x81\x00\x00\x00\x00\x00\x00\x00"))                 // a cycle
	f.Add([]byte("\x00\x00\x00\x00\x00\x00\x00\xf1\x00\x00\x00\x00\xf1\xff\x00\x00\x07\x00\x00\x01")) // duplicate ids
	f.Fuzz(func(t *testing.T, b []byte) {
		s, ok := fuzzedSession(b)
		if !ok {
			return
		}
		doc, err := session.Parse(s.file())
		require.NoError(t, err)
		require.Equal(t, s.dialect, doc.Dialect())
		requireContext(t, s, doc, session.AtLast(), len(s.entries)-1)
		requireContext(t, s, doc, session.AtRoot(), -1)
		for id, i := range s.last() {
			requireContext(t, s, doc, session.At(id), i)
		}
		_, err = doc.Check(session.AtLast(), nil)
		require.NoError(t, err)
		order, err := paging.Ordered(doc)
		require.NoError(t, err)
		requireEachOnce(t, doc, order)
		requireTail(t, s, doc)
	})
}

// treeEntry is an entry of a made-up session.
type treeEntry struct {
	id, parent, ref string // ref is the entry it refers to
	typ             session.Type
	role            string // of a message
	silent          bool   // it yields no message, or hides the entry it refers to
	rest            string // further members
}

type treeSession struct {
	dialect session.Dialect
	entries []treeEntry
}

var treeTypes = []session.Type{
	session.TypeMessage, session.TypeMessage, session.TypeMessage, session.TypeMessage, session.TypeMessage,
	session.TypeCustomMessage, session.TypeBranchSummary, session.TypeCompaction, session.TypeContextEdit,
	session.TypeModelChange, session.TypeThinkingLevel, session.TypeLabel, session.TypeResetBoundary, session.TypeCustom,
	session.TypeTTSRInjection, session.TypeModeChange, session.TypeServiceTier, session.TypeMCPToolSelection, "unheard_of",
}

// fuzzedSession takes the dialect from the first byte and an entry from every five bytes
// after it: type, id, parent, reference, rest.
func fuzzedSession(b []byte) (s treeSession, ok bool) {
	if len(b) < 6 || len(b) > 400 {
		return s, false
	}
	s.dialect = session.Dialect(b[0] % 3)
	for b = b[1:]; len(b) >= 5; b = b[5:] {
		n := len(s.entries)
		e := treeEntry{
			id: fmt.Sprintf("e%d", n), typ: treeTypes[int(b[0])%len(treeTypes)], silent: b[4]&1 == 1,
			ref: fmt.Sprintf("e%d", int(b[3])%(n+2)),
		}
		if b[1] >= 240 { // an existing id, or none
			e.id = fmt.Sprintf("e%d", int(b[1])%(n+1))
			if b[1] == 255 {
				e.id = ""
			}
		}
		switch {
		case b[2] >= 250:
			e.parent = "gone"
		case b[2] >= 128: // any entry, itself and those to come included
			e.parent = fmt.Sprintf("e%d", int(b[2])%(n+4))
		case n > 0:
			e.parent = s.entries[n-1].id
		}
		e.fill(b[4])
		s.entries = append(s.entries, e)
	}
	return s, true
}

func (e *treeEntry) fill(rest byte) {
	switch e.typ {
	case session.TypeMessage:
		e.role = []string{"user", "assistant", "toolResult", "system", "custom", "bashExecution"}[rest%6]
		stop := []string{"stop", "error", "aborted"}[rest/6%3]
		e.rest = fmt.Sprintf(`"message":{"role":%q,"content":[{"type":"toolCall","id":%q}],"toolCallId":%q,"stopReason":%q,"provider":"p","model":"m%d"}`,
			e.role, e.ref, e.ref, stop, rest)
		e.silent = false
	case session.TypeCompaction:
		e.rest = fmt.Sprintf(`"summary":"s","firstKeptEntryId":%q,"tokensBefore":1`, e.ref)
		if e.silent { // with a provider's history, and a checkpoint of pi's
			e.rest += `,"systemMessage":{"role":"system"},"preserveData":{"openaiRemoteCompaction":{"provider":"p","replacementHistory":[]}}`
		}
	case session.TypeBranchSummary:
		e.rest = fmt.Sprintf(`"fromId":%q,"summary":%q`, e.ref, strings.Repeat("s", int(^rest&1)))
	case session.TypeContextEdit:
		e.rest = fmt.Sprintf(`"targetId":%q,"replacement":{"content":"edited"}`, e.ref)
		if e.silent {
			e.rest = fmt.Sprintf(`"targetId":%q,"replacement":null`, e.ref)
		}
	default:
		e.rest = fmt.Sprintf(`"targetId":%q,"label":"l","model":"p/m%d","thinkingLevel":"high","mode":"plan","content":"c","customType":"x",`+
			`"serviceTier":"flex","injectedRules":[%q],"selectedToolNames":[%q]`, e.ref, rest, e.ref, e.ref)
	}
}

func (e *treeEntry) line() string {
	line := fmt.Sprintf(`{"type":%q,"timestamp":"2026-01-01T00:00:01.000Z",`, e.typ)
	if e.id != "" {
		line += fmt.Sprintf(`"id":%q,`, e.id)
	}
	if e.parent != "" {
		line += fmt.Sprintf(`"parentId":%q,`, e.parent)
	}
	return line + e.rest + "}"
}

func (s *treeSession) file() []byte {
	lines := []string{strings.Replace(st.Header("any", "/w"), "{", fmt.Sprintf(`{"dialect":%q,`, s.dialect), 1)}
	for _, e := range s.entries {
		lines = append(lines, e.line())
	}
	return []byte(st.File(lines...))
}

// last maps each id to the last entry that has it.
func (s *treeSession) last() map[string]int {
	last := map[string]int{}
	for i, e := range s.entries {
		if e.id != "" {
			last[e.id] = i
		}
	}
	return last
}

// pathTo returns the path from the root to an entry, found the simple way.
func (s *treeSession) pathTo(i int) (path []int) {
	last := s.last()
	for i >= 0 && !slices.Contains(path, i) {
		path = append(path, i)
		e, parent := s.entries[i], -1
		if p, ok := last[e.parent]; ok && e.parent != e.id {
			parent = p
		}
		i = parent
	}
	slices.Reverse(path)
	return path
}

// shown returns the ids of the entries that yield a message, by the rules of xcsh and pi:
// one for each message.
func (s *treeSession) shown(path []int) []string {
	ids, compaction, selected := []string{}, -1, path
	for pos, i := range path {
		if s.entries[i].typ == session.TypeCompaction {
			compaction = pos
		}
	}
	if compaction >= 0 {
		c := s.entries[path[compaction]]
		if ids = append(ids, c.id); s.dialect == session.Pi && c.silent {
			ids = append(ids, c.id)
		}
		selected = append(s.kept(path[:compaction], c), path[compaction+1:]...)
	}
	hidden := map[string]bool{}
	for _, i := range selected {
		if e := s.entries[i]; e.typ == session.TypeContextEdit && s.dialect == session.Pi {
			hidden[e.ref] = e.silent
		}
	}
	for _, i := range selected {
		e := s.entries[i]
		speaks := e.typ == session.TypeMessage || e.typ == session.TypeCustomMessage || e.typ == session.TypeBranchSummary && !e.silent
		if speaks && !hidden[e.id] {
			ids = append(ids, e.id)
		}
	}
	return ids
}

// kept returns the entries before a compaction that it keeps.
func (s *treeSession) kept(before []int, c treeEntry) (kept []int) {
	if c.silent && s.dialect == session.Xcsh {
		return nil // the provider has them
	}
	from := slices.IndexFunc(before, func(i int) bool { return s.entries[i].id == c.ref })
	if from < 0 {
		return nil
	}
	for _, i := range before[from:] {
		if s.dialect != session.Pi || s.entries[i].role != "system" {
			kept = append(kept, i)
		}
	}
	return kept
}

func requireContext(t *testing.T, s treeSession, doc *session.Document, leaf session.Leaf, i int) {
	t.Helper()
	path := s.pathTo(i)
	require.Equal(t, path, doc.PathTo(leaf))
	ctx, _, err := session.BuildContext(doc, leaf, nil)
	require.NoError(t, err)
	require.Len(t, ctx.EntryIDs, len(ctx.Messages))
	for _, m := range ctx.Messages {
		require.True(t, rawjson.Valid(m), "%s", m)
		role, _ := rawjson.GetString(m, "role")
		require.NotEmpty(t, role)
	}
	if s.dialect != session.Omp {
		require.Equal(t, s.shown(path), append([]string{}, ctx.EntryIDs...))
		return
	}
	for _, id := range ctx.EntryIDs {
		require.True(t, slices.ContainsFunc(path, func(i int) bool { return s.entries[i].id == id }), "%s is not on the path", id)
	}
}

// requireEachOnce requires that order has each entry once, except those replaced by a later
// entry with the same id, and parents before children wherever there is a root.
func requireEachOnce(t *testing.T, doc *session.Document, order []int) {
	t.Helper()
	place := map[int]int{}
	for n, i := range order {
		require.NotContains(t, place, i)
		place[i] = n
		if p := doc.Parent(i); p >= 0 && n > 0 {
			before, ok := place[p]
			require.True(t, !ok || before < n)
		}
	}
	for i := range doc.Len() {
		last := i
		if id := doc.ID(i); id != "" {
			var err error
			last, err = doc.Index(id)
			require.NoError(t, err)
		}
		if last == i {
			require.Contains(t, place, i)
		}
	}
}

// requireTail requires that reading from the end of the file gives the same result as
// reading all of it.
func requireTail(t *testing.T, s treeSession, doc *session.Document) {
	t.Helper()
	fs := afero.NewMemMapFs()
	file := bytes.Replace(s.file(), []byte(`"dialect":"pi",`), nil, 1) // such a copy is not pi's own
	kit.Put(t, fs, kit.Filed, string(file))
	tail, ok, err := session.LoadTail(fs, kit.Filed, &s.dialect, nil)
	require.NoError(t, err)
	if !ok {
		return
	}
	whole, err := session.LoadAs(fs, kit.Filed, &s.dialect)
	require.NoError(t, err)
	want, _, err := session.BuildContext(whole, session.AtLast(), nil)
	require.NoError(t, err)
	require.Equal(t, append([]string{}, want.EntryIDs...), append([]string{}, tail.Context.EntryIDs...))
	want.EntryIDs, tail.Context.EntryIDs = nil, nil
	require.Equal(t, want, tail.Context)
	require.Equal(t, doc.LeafID(session.AtLast()), tail.LeafID)
}

// FuzzTruncate compares the truncation of long texts with a reference that counts the units
// of a decoded text.
// Proves, F-15 (cuts)
func FuzzTruncate(f *testing.F) {
	for _, body := range []string{
		strings.Repeat("a", 60), strings.Repeat("é", 60), strings.Repeat("😀", 40), strings.Repeat(`\ud83d\ude00`, 40),
		strings.Repeat("a", 10) + `\ud83d` + strings.Repeat("b", 60), strings.Repeat(`\n`, 80), strings.Repeat(`\ud83d`, 60),
		strings.Repeat("a", 12) + "\xff\xfe" + strings.Repeat(`\\`, 60),
	} {
		for _, more := range []byte{0, 12, 13} {
			f.Add([]byte(body), more)
		}
	}
	f.Fuzz(func(t *testing.T, body []byte, more byte) {
		notice := utf16.Encode([]rune(session.TruncationNotice))
		limit := len(notice) + int(more)
		line := []byte(`{"text":"` + string(body) + `"}`)
		if n, st := rawjson.Scan(line); st != rawjson.Complete || n != len(line) || !bytes.Equal(rawjson.Get(line, "text"), line[8:len(line)-1]) {
			return
		}
		out, err := session.PrepareWithin(line, nil, limit, 1)
		require.NoError(t, err)
		want := units(body)
		if len(want) <= limit {
			require.Equal(t, string(line), string(out))
			return
		}
		keep := limit - len(notice)
		if keep > 0 && utf16.IsSurrogate(rune(want[keep-1])) && utf16.DecodeRune(rune(want[keep-1]), rune(want[keep])) != utf8.RuneError {
			keep-- // half a character
		}
		text, ok := bytes.CutSuffix(out, []byte(`\n\n[Session persistence truncated large content]"}`))
		require.True(t, ok, "%s", out)
		require.True(t, bytes.HasPrefix(line, text), "the text before the cut has changed")
		require.Equal(t, want[:keep], units(text[len(`{"text":"`):]))
	})
}

// units returns the UTF-16 units of an escaped text. A byte that is not UTF-8 is one unit.
func units(body []byte) []uint16 {
	u := []uint16{}
	for i := 0; i < len(body); {
		switch {
		case body[i] == '\\' && body[i+1] == 'u':
			var unit uint16
			if _, err := fmt.Sscanf(string(body[i+2:i+6]), "%x", &unit); err != nil {
				panic(err)
			}
			u = append(u, unit)
			i += 6
		case body[i] == '\\':
			u = append(u, uint16(body[i+1]))
			i += 2
		default:
			r, n := utf8.DecodeRune(body[i:])
			u = utf16.AppendRune(u, r)
			i += n
		}
	}
	return u
}

// FuzzMigrate puts arbitrary lines after a header of version 1 or 2: every entry gets its
// own id and the preceding entry as its parent, keeps its other members, and does not
// change again when it is read once more.
// Proves
func FuzzMigrate(f *testing.F) {
	lines := `{"type":"message","message":{"role":"hookMessage","content":"x","n":1.0}}` + "\njunk\n" +
		`{"type":"compaction","firstKeptEntryIndex":1,"summary":"s","z":12345678901234567890}` + "\n" +
		`{"id":"a","parentId":"b","type":"custom","data":"\ud800","firstKeptEntryIndex":0}` + "\n[]\n" +
		`{"type":"compaction","firstKeptEntryIndex":4}{"type":"compaction","firstKeptEntryIndex":0.5,"firstKeptEntryIndex":null}`
	f.Add([]byte(lines), false)
	f.Add([]byte(lines), true)
	f.Add([]byte(`{"type":"x","id":1,"id":2,"parentId":[],"message":null}`), false)
	f.Fuzz(func(t *testing.T, lines []byte, second bool) {
		version := 1
		if second {
			version = 2
		}
		header := func(version int) []byte {
			return fmt.Appendf(nil, `{"type":"session","version":%d,"id":"m","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}`+"\n", version)
		}
		doc, err := session.Parse(append(header(version), lines...))
		require.NoError(t, err)
		asItIs, err := session.Parse(append(header(session.CurrentVersion), lines...))
		require.NoError(t, err)
		require.Equal(t, asItIs.Len(), doc.Len())

		file, parent, ids := append([]byte(doc.HeaderLine()), '\n'), "", map[string]bool{}
		oneLineEach := true
		for i := range doc.Len() {
			was, err := asItIs.Entry(i)
			require.NoError(t, err)
			is, err := doc.Entry(i)
			require.NoError(t, err)
			if second {
				require.Equal(t, []string{was.ID, was.ParentID}, []string{is.ID, is.ParentID})
			} else {
				require.False(t, ids[is.ID] || is.ID == "", "%q is not an id of its own", is.ID)
				require.Equal(t, parent, is.ParentID)
			}
			parent, ids[is.ID] = is.ID, true
			requireMigrated(t, was, is, ids, second)
			file = append(append(file, is.Raw...), '\n')
			oneLineEach = oneLineEach && !bytes.ContainsRune(is.Raw, '\n')
		}
		if !oneLineEach {
			return
		}
		again, err := session.Parse(file)
		require.NoError(t, err)
		require.Equal(t, session.CurrentVersion, again.Header().Version)
		requireEntriesKept(t, doc, again, nil)
		want, _, err := session.BuildContext(doc, session.AtLast(), nil)
		require.NoError(t, err)
		got, _, err := session.BuildContext(again, session.AtLast(), nil)
		require.NoError(t, err)
		require.Equal(t, want, got)
	})
}

// requireMigrated requires that only the members that migration concerns have changed.
// known are the ids that a compaction can keep from: those up to its own.
func requireMigrated(t *testing.T, was, is session.Entry, known map[string]bool, second bool) {
	t.Helper()
	var before, after map[string]json.RawMessage
	if json.Unmarshal(was.Raw, &before) != nil {
		return // nested deeper than encoding/json goes
	}
	require.NoError(t, json.Unmarshal(is.Raw, &after), "%s", is.Raw)
	if was.Role() == "hookMessage" {
		require.Equal(t, "custom", is.Role())
		require.Equal(t, string(rawjson.Delete(was.Message(), "role")), string(rawjson.Delete(is.Message(), "role")))
		delete(before, "message")
		delete(after, "message")
	}
	if !second {
		if _, numeric := rawjson.Float(rawjson.Get(was.Raw, "firstKeptEntryIndex")); numeric && was.Type == session.TypeCompaction {
			require.NotContains(t, after, "firstKeptEntryIndex")
			if kept := is.AsCompaction().FirstKeptEntryID; kept != was.AsCompaction().FirstKeptEntryID {
				require.True(t, known[kept], "%q is no entry before", kept)
			}
			delete(before, "firstKeptEntryIndex")
			delete(before, "firstKeptEntryId")
			delete(after, "firstKeptEntryId")
		}
		for _, m := range []map[string]json.RawMessage{before, after} {
			delete(m, "id")
			delete(m, "parentId")
		}
	}
	require.Equal(t, before, after)
}
