package commands_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand"
	"os"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
)

// randomTalk makes the lines of a session with branches, orphans, compactions, labels, ids used twice and entries of every kind
// that decides about a context.
type randomTalk struct {
	*rand.Rand
	ids   []string
	plain bool // every id is used once, and parents precede their children
}

func (r *randomTalk) id() string {
	if !r.plain && len(r.ids) > 0 && r.Intn(40) == 0 {
		return r.any()
	}
	return fmt.Sprintf("%08x", r.Uint32())
}

func (r *randomTalk) any() string { return r.ids[r.Intn(len(r.ids))] }

// line returns a random entry, usually a child of the one before.
func (r *randomTalk) line() string {
	id, parent := r.id(), "null"
	switch n := r.Intn(20); {
	case len(r.ids) == 0 || n == 0:
	case n == 1:
		parent = `"ffffffff"`
	case n < 5:
		parent = `"` + r.any() + `"`
	default:
		parent = `"` + r.ids[len(r.ids)-1] + `"`
	}
	if !r.plain && r.Intn(30) == 0 { // a parent that comes later, perhaps below its child
		later := fmt.Sprintf("%08x", r.Uint32())
		parent, r.ids = `"`+later+`"`, append(r.ids, later)
	}
	r.ids = append(r.ids, id)
	call := fmt.Sprintf("c%d", r.Intn(12))
	text := strings.Repeat(fmt.Sprintf("word%d ", r.Intn(100)), 1+r.Intn(30))
	bodies := []string{
		`"type":"message","message":{"role":"user","content":"` + text + `"}`,
		`"type":"message","message":{"role":"user","content":"` + text + `"}`,
		`"type":"message","message":{"role":"assistant","content":[{"type":"text","text":"` + text + `"},{"type":"toolCall","id":"` + call + `","name":"read","arguments":{"path":"a"}}],"stopReason":"toolUse","provider":"p","model":"m"}`,
		`"type":"message","message":{"role":"assistant","content":[{"type":"toolCall","id":"` + call + `","name":"read"}],"stopReason":"error"}`,
		`"type":"message","message":{"role":"assistant","content":[{"type":"text","text":"` + text + `"}],"stopReason":"stop","timestamp":1767225602000,"usage":{"input":` + fmt.Sprint(r.Intn(99)) + `,"output":2,"totalTokens":` + fmt.Sprint(100+r.Intn(900)) + `}}`,
		`"type":"message","message":{"role":"toolResult","toolCallId":"` + call + `","toolName":"read","content":[{"type":"text","text":"` + text + `"}]}`,
		`"type":"message","message":{"role":"toolResult","toolCallId":"` + call + `","toolName":"todo_write","content":[],"details":{"phases":[` + fmt.Sprint(r.Intn(9)) + `]}}`,
		`"type":"message"`,
		`"type":"custom_message","customType":"note","content":"` + text + `","display":true`,
		`"type":"branch_summary","summary":"` + text + `","fromId":"root"`,
		`"type":"branch_summary","summary":""`,
		`"type":"label","targetId":"` + r.any() + `","label":"L` + call + `"`,
		`"type":"model_change","provider":"p","modelId":"m","model":"p/m"`,
		`"type":"thinking_level_change","thinkingLevel":"high"`,
		`"type":"context_edit","targetId":"` + r.any() + `","content":null`,
		`"type":"custom","customType":"xcsh-ls.toolStart","data":{}`,
		`"type":"custom","customType":"experimental_context_notes","data":{"version":1,"text":"` + text + `"}`,
	}
	body := bodies[r.Intn(len(bodies))]
	if r.Intn(40) == 0 {
		body = `"type":"compaction","summary":"` + text + `","firstKeptEntryId":"` + r.any() + `","tokensBefore":7`
	}
	return fmt.Sprintf(`{%s,"id":"%s","parentId":%s,"timestamp":"2026-01-01T00:%02d:%02d.000Z"}`, body, id, parent, r.Intn(60), r.Intn(60))
}

func (r *randomTalk) lines(n int) []string {
	lines := make([]string, n)
	for i := range lines {
		lines[i] = r.line()
	}
	return lines
}

// dialectFiles are places of sessions whose files follow each program's rules.
var dialectFiles = []string{
	file1,
	"/home/u/.pi/agent/sessions/--w--/2026-01-01T00-00-00-000Z_" + id1 + ".jsonl",
	"/home/u/.omp/agent/sessions/--w--/2026-01-01T00-00-00-000Z_" + id1 + ".jsonl",
}

// appendLines appends to a file as another program does.
func appendLines(t *testing.T, fs afero.Fs, path string, lines ...string) {
	t.Helper()
	f, err := fs.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = f.WriteString(st.File(lines...))
	require.NoError(t, err)
	require.NoError(t, f.Close())
}

// inPages requests all pages of a command. between runs before each but the first one. add gets every page and returns the
// cursor of the next one.
func inPages(t *testing.T, env *commands.Env, name string, first args, random *rand.Rand, between func(), add func(page json.RawMessage) string) {
	t.Helper()
	given := first
	for range 10_000 {
		for _, limit := range []string{"limit", "maxBytes"} {
			if most, ok := first[limit].(int); ok {
				given[limit] = 1 + random.Intn(most)
			}
		}
		page, err := run(t.Context(), env, name, given)
		require.NoError(t, err)
		cursor := add(page)
		if cursor == "" {
			return
		}
		given = args{"cursor": cursor}
		for _, same := range []string{"source", "under", "fold", "limit", "maxBytes"} {
			if v, ok := first[same]; ok {
				given[same] = v
			}
		}
		between()
	}
	t.Fatal("the pages never end")
}

// decode decodes a result into R.
func decode[R any](t *testing.T, raw json.RawMessage) (r R) {
	t.Helper()
	require.NoError(t, json.Unmarshal(raw, &r))
	return r
}

// The pages of each command are together what it returns at once, whatever their sizes are and whatever another program
// appends meanwhile, by the rules of each program, and both for a live session and for another one.
func TestPagesAreTogetherTheWholeAnswer(t *testing.T) {
	t.Parallel()
	for seed := range int64(12) {
		for k, path := range dialectFiles {
			for _, live := range []bool{false, true} {
				t.Run(fmt.Sprintf("%d %d %v", seed, k, live), func(t *testing.T) {
					t.Parallel()
					pagesAreTheWhole(t, rand.New(rand.NewSource(seed)), path, live, seed%2 == 0)
				})
			}
		}
	}
}

func pagesAreTheWhole(t *testing.T, random *rand.Rand, path string, live, plain bool) {
	t.Helper()
	fs := afero.NewMemMapFs()
	talk := &randomTalk{Rand: random, plain: plain, ids: []string{"aaaaaaaa"}}
	begin := `{"type":"message","id":"aaaaaaaa","parentId":null,"message":{"role":"assistant","content":[{"type":"toolCall","id":"c0","name":"todo_write"}]}}`
	write(t, fs, path, append([]string{st.Header(id1, "/w"), begin}, talk.lines(30+random.Intn(60))...)...)
	env := newEnv(fs)
	if live {
		_, err := run(t.Context(), env, "xcsh.resume", args{"target": path})
		require.NoError(t, err)
	}
	subject := func(a args) args {
		a["source"] = path
		return a
	}
	talk.plain = true // an id that is used again changes what came before
	adopted := false
	others := func() {
		if !adopted && random.Intn(4) == 0 { // the parent that orphans name
			appendLines(t, fs, path, st.User("ffffffff", "", "late"))
			adopted = true
		}
		appendLines(t, fs, path, talk.lines(random.Intn(3))...)
		if live && random.Intn(3) == 0 { // an entry of our own, before which theirs are read
			_, err := run(t.Context(), env, "xcsh.label", args{"entryId": "aaaaaaaa", "label": fmt.Sprint(random.Int())})
			require.NoError(t, err)
		}
	}

	entries := call[commands.EntriesResult](t, env, "xcsh.entries", subject(args{})).Entries
	var paged []json.RawMessage
	inPages(t, env, "xcsh.entries", subject(args{"limit": 20, "maxBytes": 9000}), random, others, func(page json.RawMessage) string {
		r := decode[commands.EntriesResult](t, page)
		require.LessOrEqual(t, len(r.Entries), 20)
		paged = append(paged, r.Entries...)
		return r.Next
	})
	require.Equal(t, entries, paged)

	for _, of := range []args{{}, {"fold": true}, {"under": "aaaaaaaa"}, {"under": "aaaaaaaa", "fold": true}} {
		whole := call[commands.TreeResult](t, env, "xcsh.tree", subject(of))
		require.Len(t, whole.Nodes, whole.Total)
		var nodes []commands.TreeNode
		first := subject(args{"limit": 20, "maxBytes": 3000})
		maps.Copy(first, of)
		inPages(t, env, "xcsh.tree", first, random, others, func(page json.RawMessage) string {
			r := decode[commands.TreeResult](t, page)
			require.Equal(t, whole.Total, r.Total)
			nodes = append(nodes, r.Nodes...)
			return r.Next
		})
		require.Len(t, nodes, len(whole.Nodes))
		for i, n := range whole.Nodes {
			require.Equal(t, n, nodes[i], "%v, node %d", of, i)
		}
	}

	built := call[commands.ContextResult](t, env, "xcsh.context", subject(args{}))
	var context []json.RawMessage
	inPages(t, env, "xcsh.context", subject(args{"maxBytes": 2000}), random, others, func(page json.RawMessage) string {
		r := decode[commands.ContextResult](t, page)
		require.Equal(t, built.Context.Models, r.Context.Models)
		require.Equal(t, built.Context.ThinkingLevel, r.Context.ThinkingLevel)
		context = append(context, r.Context.Messages...)
		return r.Next
	})
	require.Equal(t, built.Context.Messages, emptyNotNil(context))

	if live {
		newestIsTheEnd(t, env, random)
	}
	built = call[commands.ContextResult](t, env, "xcsh.context", subject(args{}))
	var older []json.RawMessage
	inPages(t, env, "xcsh.messages", subject(args{"limit": 20, "maxBytes": 2000}), random, others, func(page json.RawMessage) string {
		r := decode[commands.MessagesResult](t, page)
		var messages []json.RawMessage
		for _, m := range r.Messages {
			messages = append(messages, m.Message)
		}
		older = append(messages, older...)
		if r.Older == nil {
			return ""
		}
		require.GreaterOrEqual(t, r.Older.Count, len(built.Context.Messages)-len(older))
		return r.Older.Cursor
	})
	require.Equal(t, built.Context.Messages, emptyNotNil(older))
}

// newestIsTheEnd requires that a snapshot of the newest messages is the end of a whole one, and equal otherwise.
func newestIsTheEnd(t *testing.T, env *commands.Env, random *rand.Rand) {
	t.Helper()
	whole, last := call[agent.Snapshot](t, env, "xcsh.snapshot", args{}), 1+random.Intn(20)
	newest := call[agent.Snapshot](t, env, "xcsh.snapshot", args{"last": last})
	n := len(whole.Messages)
	require.Equal(t, whole.Messages[max(0, n-last):], newest.Messages)
	if n > last {
		require.GreaterOrEqual(t, newest.Older.Count, n-last)
		older := call[commands.MessagesResult](t, env, "xcsh.messages", args{"cursor": newest.Older.Cursor, "limit": 500})
		require.Equal(t, whole.Messages[:n-last], older.Messages)
	}
	whole.Messages, newest.Messages, newest.Older = nil, nil, nil
	require.Equal(t, whole, newest)
}

func emptyNotNil(list []json.RawMessage) []json.RawMessage {
	if list == nil {
		return []json.RawMessage{}
	}
	return list
}

// A folded tree has one node for each run of entries that have one child each.
func TestAFoldedTree(t *testing.T) {
	t.Parallel()
	for seed := range int64(40) {
		talk := &randomTalk{Rand: rand.New(rand.NewSource(seed)), ids: []string{"aaaaaaaa"}, plain: true}
		fs := afero.NewMemMapFs()
		write(t, fs, file1, append([]string{st.Header(id1, "/w"), st.User("aaaaaaaa", "", "begin")}, talk.lines(60)...)...)
		env := newEnv(fs)
		whole := call[commands.TreeResult](t, env, "xcsh.tree", args{"source": id1})
		folded := call[commands.TreeResult](t, env, "xcsh.tree", args{"source": id1, "fold": true})
		parentOf := func(n commands.TreeNode) string {
			if n.ParentID == nil {
				return ""
			}
			return *n.ParentID
		}
		children := map[string]int{}
		for _, n := range whole.Nodes {
			children[parentOf(n)]++
		}
		first, want := map[string]string{}, []commands.TreeNode{}
		for _, n := range whole.Nodes {
			parent := parentOf(n)
			if parent != "" && children[parent] == 1 {
				last := &want[len(want)-1]
				last.Count, last.LastID, first[n.ID] = last.Count+1, n.ID, last.ID
				continue
			}
			first[n.ID] = n.ID
			n.Count, n.LastID = 1, n.ID
			if parent != "" {
				head := first[parent]
				n.ParentID = &head
			}
			want = append(want, n)
		}
		require.Equal(t, want, folded.Nodes)
		require.Len(t, want, folded.Total)
	}
}

// rewrites are changes of a file that are no appends.
var rewrites = map[string]func(lines []string) []string{
	"a line is removed":     func(l []string) []string { return append(l[:3:3], l[4:]...) },
	"the last line is gone": func(l []string) []string { return l[:len(l)-1] },
	"a line is inserted": func(l []string) []string {
		return append(l[:3:3], append([]string{st.User("ffffffff", "", "x")}, l[3:]...)...)
	},
	"a line has other text": func(l []string) []string { l[3] = strings.Replace(l[3], "message 2", "another message", 1); return l },
	"lines are exchanged":   func(l []string) []string { l[3], l[4] = l[4], l[3]; return l },
	"it is another session": func(l []string) []string { l[0] = st.Header("0190000000000002", "/w"); return l },
	"an entry has another id": func(l []string) []string {
		l[3] = strings.Replace(l[3], `"id":"00000003"`, `"id":"10000003"`, 1)
		return l
	},
}

// The cursors of a session that was rewritten are stale, and those of one with another title are not.
func TestARewriteMakesCursorsStale(t *testing.T) {
	t.Parallel()
	for name, rewrite := range rewrites {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fs := afero.NewMemMapFs()
			write(t, fs, file1, longTalk(20)...)
			env := newEnv(fs)
			cursors := cursorsOf(t, env, args{"source": file1})
			titled := longTalk(20)
			titled[0] = strings.Replace(titled[0], `"cwd"`, `"title":"A longer title","cwd"`, 1)
			write(t, fs, file1, titled...)
			for command, a := range cursors {
				_, err := run(t.Context(), env, command, a)
				require.NoError(t, err, command)
			}
			write(t, fs, file1, rewrite(longTalk(20))...)
			for command, a := range cursors {
				_, err := run(t.Context(), env, command, a)
				f := requireKind(t, fault.Stale, err)
				require.Contains(t, f.Message, "request the first page again", command)
			}
		})
	}
}

// cursorsOf returns for each command with pages the arguments for its second page.
func cursorsOf(t *testing.T, env *commands.Env, a args) map[string]args {
	t.Helper()
	with := func(more args) args {
		all := args{}
		for _, m := range []args{a, more} {
			maps.Copy(all, m)
		}
		return all
	}
	return map[string]args{
		"xcsh.entries":  with(args{"cursor": call[commands.EntriesResult](t, env, "xcsh.entries", with(args{"limit": 2})).Next}),
		"xcsh.tree":     with(args{"cursor": call[commands.TreeResult](t, env, "xcsh.tree", with(args{"limit": 2})).Next}),
		"xcsh.context":  with(args{"cursor": call[commands.ContextResult](t, env, "xcsh.context", with(args{"maxBytes": 200})).Next}),
		"xcsh.messages": with(args{"cursor": call[commands.MessagesResult](t, env, "xcsh.messages", with(args{"limit": 2})).Older.Cursor}),
	}
}
