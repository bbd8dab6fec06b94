package library_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/sessiontest/kit"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/library"
)

// piListDiffers names the fixtures that are listed differently than by pi, and why. No
// change means that the file is not listed.
var piListDiffers = map[string]struct {
	why    string
	change func(*piInfo)
}{
	"odd-bom": {"a byte order mark hides nothing", func(i *piInfo) {
		i.MessageCount, i.FirstMessage, i.AllMessagesText = 2, "one", "one two"
	}},
	"odd-no-message-field": {"an entry without a message is no message, the others are", func(i *piInfo) {
		i.MessageCount, i.FirstMessage, i.AllMessagesText = 1, "one", "one"
	}},
	"odd-null-content": {"a message without content has no text, it is a message all the same", func(i *piInfo) {
		i.MessageCount, i.FirstMessage = 3, library.NoMessages
	}},
	"odd-list-u2028": {"pi's list splits lines at U+2028, where its own loader does not", func(i *piInfo) {
		i.MessageCount, i.FirstMessage, i.AllMessagesText = 3, "raw\u2028separator inside", "raw\u2028separator inside clean after"
	}},
	"sm-unicode": {"the same", func(i *piInfo) {
		const lost = "Separators: LS[\u2028] PS[\u2029] NEL[\u0085] VT[\v] FF[\f] BOM[\ufeff] "
		i.MessageCount++
		i.AllMessagesText = strings.Replace(i.AllMessagesText, "lone high", lost+"lone high", 1)
	}},
	"odd-header-numeric-id": {"an id that is a number cannot be opened by any program", nil},
}

type piInfo struct {
	ID              any    `json:"id"`
	Cwd             string `json:"cwd"`
	Name            string `json:"name"`
	ParentSession   string `json:"parentSessionPath"`
	MessageCount    int    `json:"messageCount"`
	FirstMessage    string `json:"firstMessage"`
	AllMessagesText string `json:"allMessagesText"`
}

// describe describes the file at path, in a root of the dialect's program; xcsh's is none.
func describe(fs afero.Fs, path string, dialect session.Dialect) (library.Info, error) {
	f := library.Finder{Fs: fs, Now: func() time.Time { return kit.Noon }}
	if dialect != session.Xcsh {
		f.Roots = []library.Root{{Places: library.Places{Sessions: filepath.Dir(path)}, Dialect: dialect}}
	}
	return f.Describe(path)
}

// TestDescribeAsPi compares with pi's own listing.
// Proves
func TestDescribeAsPi(t *testing.T) {
	t.Parallel()
	for _, file := range kit.SessionFiles(t, "pi") {
		name := strings.TrimSuffix(filepath.Base(file), ".jsonl")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var want []piInfo
			kit.ReadJSON(t, strings.TrimSuffix(file, ".jsonl")+".list.json", &want)
			info, err := describe(kit.DiskFixtures(), file, session.Pi)
			if differs, ok := piListDiffers[name]; ok {
				if differs.change == nil {
					require.Error(t, err, differs.why)
					return
				}
				if len(want) == 0 {
					want = []piInfo{{ID: "01a19656-0000-7000-8000-000000000001", Cwd: "/home/dev/proj"}}
				}
				differs.change(&want[0])
			}
			if len(want) == 0 {
				require.Equal(t, fault.Damaged, fault.KindOf(err))
				return
			}
			require.NoError(t, err)
			got := piInfo{
				ID: info.ID, Cwd: info.Cwd, Name: info.Title, ParentSession: info.ParentSession,
				MessageCount: info.MessageCount, FirstMessage: info.FirstMessage, AllMessagesText: info.AllText,
			}
			require.Equal(t, want[0], got)
			require.Equal(t, "pi", info.Origin)
			requireAgreesWithLoad(t, file, info)
		})
	}
}

// requireAgreesWithLoad checks an Info against the index of the same file.
func requireAgreesWithLoad(t *testing.T, file string, info library.Info) {
	t.Helper()
	doc, err := kit.NewStore(kit.DiskFixtures()).Load(file)
	require.NoError(t, err)
	require.Equal(t, doc.Len(), info.Entries)
	require.Equal(t, doc.Header().ID, info.ID)
	lost := 0
	for _, p := range doc.Problems() {
		if p.Lost {
			lost++
		}
	}
	require.Equal(t, lost, info.DamagedLines)
	if doc.Title().Text != "" {
		require.Equal(t, doc.Title().Text, info.Title)
	}
	parents, ids := map[string]bool{}, map[string]bool{}
	anonymous := 0
	for i := range doc.Len() {
		e, err := doc.Entry(i)
		require.NoError(t, err)
		if e.ID == "" {
			anonymous++
		}
		ids[e.ID] = e.ID != ""
		if e.ParentID != e.ID {
			parents[e.ParentID] = true
		}
	}
	leaves := anonymous
	for id, real := range ids {
		if real && !parents[id] {
			leaves++
		}
	}
	require.Equal(t, max(leaves, min(1, doc.Len())), info.Branches)
}

func TestDescribeOmpFixtures(t *testing.T) {
	t.Parallel()
	for _, file := range kit.SessionFiles(t, "omp") {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			info, err := describe(kit.DiskFixtures(), file, session.Xcsh)
			require.NoError(t, err)
			requireAgreesWithLoad(t, file, info)
			doc, err := kit.NewStore(kit.DiskFixtures()).Load(file)
			require.NoError(t, err)
			require.Equal(t, doc.Dialect().String(), info.Origin, "both tell the program alike")
		})
	}
}

const infoHeader = `{"type":"session","version":3,"id":"0123456789abcdef","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}`

// describeLines describes a file of the given lines.
func describeLines(t *testing.T, lines ...string) library.Info {
	t.Helper()
	fs := afero.NewMemMapFs()
	kit.PutSession(t, fs, "/s/a.jsonl", strings.Join(lines, "\n")+"\n", 90*time.Minute)
	info, err := describe(fs, "/s/a.jsonl", session.Xcsh)
	require.NoError(t, err)
	return info
}

// summaryFree is a title that is not the summary of a compaction.
func summaryFree(title string) string {
	if title == "one" || title == "two" {
		return ""
	}
	return title
}

// Proves: X-145, P-004
func TestDescribeTitle(t *testing.T) {
	t.Parallel()
	slot := func(title string) string {
		return `{"type":"title","v":1,"title":"` + title + `","updatedAt":"x","pad":" "}`
	}
	withTitle := strings.Replace(infoHeader, `"cwd"`, `"title":"head","cwd"`, 1)
	emptyTitle := strings.Replace(infoHeader, `"cwd"`, `"title":"","cwd"`, 1)
	nullTitle := strings.Replace(infoHeader, `"cwd"`, `"title":null,"cwd"`, 1)
	short1, short2 := `{"type":"compaction","id":"c","shortSummary":"one"}`, `{"type":"compaction","id":"d","shortSummary":"two"}`
	none := `{"type":"compaction","id":"e","summary":"long"}`
	named, cleared := `{"type":"session_info","id":"n","name":"given"}`, `{"type":"session_info","id":"o","name":""}`
	repeated := `{"type":"session_info","id":"p","name":"old","inHeader":true}`
	for _, c := range []struct {
		name  string
		lines []string
		title string
		has   bool
	}{
		{"none", []string{infoHeader}, "", false},
		{"the header's", []string{withTitle, short1}, "head", true},
		{"pi's name after the header's", []string{withTitle, short1, named}, "given", true},
		{"pi's name before a rename in the header", []string{withTitle, named, repeated}, "head", true},
		{"the header renamed after its copy", []string{withTitle, repeated}, "head", true},
		{"pi's name after the copy", []string{withTitle, repeated, named}, "given", true},
		{"a copy without its header", []string{infoHeader, repeated}, "old", true},
		{"the header's title taken back by pi", []string{withTitle, repeated, cleared}, "", false},
		{"an empty one counts", []string{emptyTitle, short1}, "", true},
		{"null is none", []string{nullTitle, short1}, "one", true},
		{"the last summary", []string{infoHeader, short1, short2, none}, "two", true},
		{"pi's name before a summary", []string{infoHeader, named, short1}, "given", true},
		{"pi's name taken back", []string{infoHeader, named, cleared, short1}, "one", true},
		{"omp's slot before the header", []string{slot("slot"), withTitle, short1}, "slot", true},
		{"omp's empty slot hides the header", []string{slot(""), withTitle}, "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			info := describeLines(t, c.lines...)
			require.Equal(t, c.title, info.Title)
			require.Equal(t, c.has, info.HasTitle)
			require.NotEmpty(t, info.Name)
			doc, err := session.ParseText(t.Context(), strings.Join(c.lines, "\n")+"\n")
			require.NoError(t, err)
			require.Equal(t, summaryFree(c.title), doc.Title().Text, "an open session has the title of the list")
		})
	}
}

// TestDescribeTolerates lists files with one odd line among good ones.
// Proves: X-063
func TestDescribeTolerates(t *testing.T) {
	t.Parallel()
	user := `{"type":"message","id":"u","parentId":null,"message":{"role":"user","content":"hello"}}`
	message := func(m string) string { return `{"type":"message","id":"x","parentId":"u","message":` + m + `}` }
	for name, c := range map[string]struct {
		line     string
		messages int
		entries  int
		damaged  int
	}{
		"null line":               {"null", 1, 1, 0},
		"number line":             {"7", 1, 1, 0},
		"array line":              {`[{"type":"message"}]`, 1, 1, 0},
		"object without type":     {`{"a":1}`, 1, 1, 0},
		"blank line":              {"", 1, 1, 0},
		"garbage":                 {"garbage", 1, 1, 1},
		"torn line":               {`{"type":"message","id":"x","message":{"role":"user","content":"to`, 1, 1, 1},
		"no message":              {`{"type":"message","id":"x","parentId":"u"}`, 1, 2, 0},
		"null message":            {message(`null`), 1, 2, 0},
		"scalar message":          {message(`"x"`), 2, 2, 0},
		"null content":            {message(`{"role":"user","content":null}`), 2, 2, 0},
		"no content":              {message(`{"role":"assistant"}`), 2, 2, 0},
		"number as content":       {message(`{"role":"user","content":5}`), 2, 2, 0},
		"null block":              {message(`{"role":"user","content":[null,{"type":"text","text":""}]}`), 2, 2, 0},
		"block without text":      {message(`{"role":"assistant","content":[{"type":"text"},{"type":"text","text":null}]}`), 2, 2, 0},
		"assistant without usage": {message(`{"role":"assistant","content":[]}`), 2, 2, 0},
		"rules without a list":    {`{"type":"ttsr_injection","id":"x","parentId":"u"}`, 1, 2, 0},
		"tools without a list":    {`{"type":"mcp_tool_selection","id":"x","parentId":"u"}`, 1, 2, 0},
		"a second header":         {infoHeader, 1, 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			info := describeLines(t, infoHeader, user, c.line)
			require.Equal(t, "hello", info.FirstMessage)
			require.Equal(t, "hello", info.AllText)
			require.Equal(t, []int{c.messages, c.entries, c.damaged, 1}, []int{info.MessageCount, info.Entries, info.DamagedLines, info.Branches})
		})
	}
}

// Proves
func TestDescribeTexts(t *testing.T) {
	t.Parallel()
	info := describeLines(t, infoHeader,
		`{"type":"message","id":"a","parentId":null,"message":{"role":"assistant","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"ans"},{"type":"toolCall","name":"x","arguments":{"text":"no"}}]}}`,
		`{"type":"message","id":"b","parentId":"a","message":{"role":"toolResult","content":[{"type":"text","text":"tool"}]}}`,
		`{"type":"message","id":"c","parentId":"b","message":{"role":"user","content":[{"type":"image","data":"zz"}]}}`,
		`{"type":"message","id":"d","parentId":"b","message":{"role":"user","content":[{"type":"text","text":""},{"type":"text","text":"one"},{"type":"text","text":"two"}]}}`,
		`{"type":"message","id":"e","parentId":"d","message":{"role":"developer","content":"dev"}}`)
	require.Equal(t, "ans  one two", info.AllText)
	require.Equal(t, " one two", info.FirstMessage)
	require.Equal(t, "one", info.Name)
	require.Equal(t, 5, info.MessageCount)
	require.Equal(t, 2, info.Branches)

	info = describeLines(t, infoHeader, `{"type":"message","id":"a","parentId":null,"message":{"role":"assistant","content":"ans"}}`)
	require.Equal(t, "(no messages)", info.FirstMessage)
}

// TestListNamesLikeDescribe: the name of a session does not depend on whether all of its
// texts are requested.
func TestListNamesLikeDescribe(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	f := kit.NewFinder(fs)
	path := kit.SessionsRoot + "/--w--/a.jsonl"
	kit.PutSession(t, fs, path, kit.Chat("a", "/w")+
		`{"type":"message","id":"a","parentId":null,"message":{"role":"user","content":[{"type":"text","text":""},{"type":"text","text":""}]}}`+"\n"+
		`{"type":"message","id":"b","parentId":"a","message":{"role":"user","content":"hello"}}`+"\n", 0)
	infos, _, err := f.List(t.Context(), "/w", library.ListOptions{})
	require.NoError(t, err)
	want, err := f.Describe(path)
	require.NoError(t, err)
	require.Equal(t, "hello", want.Name)
	require.Empty(t, want.Slug, "one file does not tell who else would have it")
	want.AllText, want.Slug = "", "session-a"
	require.Equal(t, []library.Info{want}, infos)
}

// Proves: X-064
func TestDescribeBranches(t *testing.T) {
	t.Parallel()
	entry := func(id, parent string) string {
		return `{"type":"label","id":` + id + `,"parentId":` + parent + `}`
	}
	for name, c := range map[string]struct {
		lines []string
		want  int
	}{
		"no entry has none":               {nil, 0},
		"one line":                        {[]string{entry(`"a"`, `null`), entry(`"b"`, `"a"`)}, 1},
		"a fork":                          {[]string{entry(`"a"`, `null`), entry(`"b"`, `"a"`), entry(`"c"`, `"a"`)}, 2},
		"the parent comes later":          {[]string{entry(`"b"`, `"a"`), entry(`"a"`, `null`)}, 1},
		"two roots":                       {[]string{entry(`"a"`, `null`), entry(`"b"`, `"gone"`)}, 2},
		"its own parent":                  {[]string{entry(`"a"`, `"a"`)}, 1},
		"a circle":                        {[]string{entry(`"a"`, `"b"`), entry(`"b"`, `"a"`)}, 1},
		"an id met twice is one entry":    {[]string{entry(`"a"`, `null`), entry(`"a"`, `null`)}, 1},
		"an escaped id is the same":       {[]string{entry(`"\u0061"`, `null`), entry(`"b"`, `"a"`)}, 1},
		"what has no id cannot be named":  {[]string{entry(`null`, `null`), entry(`""`, `null`)}, 2},
		"a numeric id is none, as parent": {[]string{entry(`7`, `null`), entry(`"b"`, `7`)}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, describeLines(t, append([]string{infoHeader}, c.lines...)...).Branches)
		})
	}
	v1 := strings.Replace(infoHeader, `"version":3,`, "", 1)
	require.Equal(t, 1, describeLines(t, v1, `{"type":"label"}`, `{"type":"label"}`).Branches, "the first version is one line")
}

// Proves, AB-004, AB-005 (whole, as in the programs' lists)
func TestDescribeOnTheWire(t *testing.T) {
	t.Parallel()
	header := strings.Replace(infoHeader, `"cwd"`, `"title":"A title","parentSession":"p","cwd"`, 1)
	info := describeLines(t, header, `{"type":"message","id":"u","parentId":null,"message":{"role":"user","content":"hi"}}`)
	b, err := json.Marshal(info)
	require.NoError(t, err)
	require.JSONEq(t, `{"path":"/s/a.jsonl","id":"0123456789abcdef","cwd":"/w","title":"A title","name":"A title",
		"firstMessage":"hi","messageCount":1,"created":"2026-01-01T00:00:00.000Z","modified":"2026-11-20T10:30:00.000Z",
		"timeAgo":"1h ago","parentSession":"p","size":228,"entries":1,"branches":1,"damagedLines":0,"live":false,"origin":"xcsh"}`, string(b))
	bad := strings.Replace(infoHeader, "2026-01-01T00:00:00.000Z", "some day", 1)
	require.Equal(t, "some day", describeLines(t, bad).Created)
}

// Proves: X-057
func TestDescribeRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	fs := afero.NewOsFs()
	_, err := describe(fs, filepath.Join(dir, "gone.jsonl"), session.Xcsh)
	require.Equal(t, fault.NotFound, fault.KindOf(err))
	require.Equal(t, "File not found: "+filepath.Join(dir, "gone.jsonl"), err.Error())
	_, err = describe(fs, dir, session.Xcsh)
	require.Equal(t, fault.IO, fault.KindOf(err))
	_, err = describe(fs, os.DevNull, session.Xcsh)
	require.Equal(t, fault.IO, fault.KindOf(err), "a device or pipe is not waited for")
	for name, text := range map[string]string{
		"empty": "", "no JSON": "hello\n", "an entry": `{"type":"message","id":"a"}` + "\n", "a number for an id": `{"type":"session","id":1}` + "\n",
	} {
		file := filepath.Join(dir, "file.jsonl")
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		_, err = describe(fs, file, session.Xcsh)
		require.Equal(t, fault.Damaged, fault.KindOf(err), name)
	}
}
