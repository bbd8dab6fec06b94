package shipping_test

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/team/shipping"
)

// TestHeadAndBodyAreTheFile: for every fixture the head and the body are the file, byte for byte, and the head is read as the rest of
// the program reads it.
func TestHeadAndBodyAreTheFile(t *testing.T) {
	t.Parallel()
	read, refused := 0, 0
	for name, content := range fixtures(t) {
		h, err := shipping.ReadHead(iotest.OneByteReader(bytes.NewReader(content)))
		doc, parseErr := load(t, content)
		if err != nil {
			require.Equal(t, fault.Damaged, fault.KindOf(err), name)
			require.True(t, parseErr != nil || doc.Header().ID == "", "%s has a header", name)
			refused++
			continue
		}
		read++
		require.NoError(t, parseErr, name)
		require.True(t, bytes.HasPrefix(content, h.Raw), name)
		require.Equal(t, byte('\n'), h.Raw[len(h.Raw)-1], name)
		require.Equal(t, doc.Header().ID, h.Header().ID, name)
		if h.Header().Version == session.CurrentVersion { // others are migrated
			require.Equal(t, string(doc.HeaderLine()), string(h.Header().Raw), name)
		}
		again, err := shipping.ParseHead(h.Raw)
		require.NoError(t, err)
		require.Equal(t, h, again, name)
		if h.HasSlot() {
			require.Equal(t, doc.Title(), h.Title(), name)
		}
	}
	require.Greater(t, read, 85)
	require.Positive(t, refused)
}

// load reads a session as the rest of the program does.
func load(t *testing.T, content []byte) (*session.Document, error) {
	t.Helper()
	fsys := afero.NewMemMapFs()
	require.NoError(t, afero.WriteFile(fsys, "/s.jsonl", content, 0o600))
	return session.NewStore(session.StoreConfig{Fs: fsys, DirFor: func(string) (string, error) { return "/", nil }}).Load("/s.jsonl")
}

// TestAHeadGoesThereAndBack: the head that was pulled is that of the store again when it is shipped, and only the two
// members differ.
func TestAHeadGoesThereAndBack(t *testing.T) {
	t.Parallel()
	for name, content := range fixtures(t) {
		h, err := shipping.ReadHead(bytes.NewReader(content))
		if err != nil {
			continue
		}
		out := h.Shipped("apps/shop")
		require.Equal(t, out, out.Shipped("apps/shop"), name)
		require.Equal(t, h.HasSlot(), out.HasSlot(), name)
		header := h.Header()
		if header.Cwd != "" {
			require.Equal(t, "apps/shop", out.Header().Cwd, name)
			require.NotContains(t, string(out.Raw), header.Cwd+`"`, name)
		}
		back := out.Localized(shipping.Local{Cwd: header.Cwd, Parent: header.ParentSession})
		require.Equal(t, string(h.Raw), string(back.Raw), name)
		pulled := out.Localized(shipping.Local{Cwd: "/elsewhere/shop"})
		require.Equal(t, string(out.Raw), string(pulled.Shipped("apps/shop").Raw), name)
		requireSameBut(t, header.Raw, pulled.Header().Raw, "cwd", "parentSession")
		foreign := out.Localized(shipping.Local{Cwd: "/elsewhere", Dialect: "pi"})
		require.Equal(t, "pi", foreign.Header().Dialect, name)
	}
}

// requireSameBut requires that two objects have the same members, byte for byte, but for those named.
func requireSameBut(t *testing.T, a, b []byte, names ...string) {
	t.Helper()
	for _, name := range names {
		a, b = rawjson.Delete(a, name), rawjson.Delete(b, name)
	}
	require.Equal(t, string(a), string(b))
}

func TestWhatAHeadSaysOfThisMachine(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]string{
		`{"type":"session","id":"a","cwd":"/home/ann/web"}`:                                               `{"type":"session","id":"a","cwd":"."}`,
		` {"type":"session","x":1.0,"id":"a"} `:                                                           ` {"type":"session","x":1.0,"id":"a"} `,
		`{"type":"session","id":"a","parentSession":"b"}`:                                                 `{"type":"session","id":"a","parentSession":"b"}`,
		`{"type":"session","id":"a","parentSession":"/home/ann/2026_b-1.jsonl"}`:                          `{"type":"session","id":"a","parentSession":"b-1"}`,
		`{"type":"session","id":"a","parentSession":"C:\\Users\\ann\\2026_b.jsonl"}`:                      `{"type":"session","id":"a","parentSession":"b"}`,
		`{"type":"session","id":"a","parentSession":"2026_b.jsonl.jsonl"}`:                                `{"type":"session","id":"a","parentSession":"b"}`,
		`{"type":"session","id":"a","parentSession":"/home/ann/"}`:                                        `{"type":"session","id":"a","parentSession":""}`,
		`{"type":"session","id":"a","cwd":"/home/ann","\u0063wd":"/home/ann/web"}`:                        `{"type":"session","id":"a","cwd":"."}`,
		`{"type":"session","id":"a","parentSession":"/home/ann/x","parentSession":"b"}`:                   `{"type":"session","id":"a","parentSession":"b"}`,
		`{"type":"session","id":"a","parentSession":"/home/x_y.jsonl","parentSession":"/home/x_z.jsonl"}`: `{"type":"session","id":"a","parentSession":"z"}`,
		`{"type":"session","id":"a","cwd":["/home/ann"]}`:                                                 `{"type":"session","id":"a","cwd":"."}`,
	} {
		h, err := shipping.ParseHead([]byte("garbage\n\n" + header + "\r\n"))
		require.NoError(t, err)
		require.Equal(t, "garbage\n\n"+want+"\r\n", string(h.Shipped("").Raw))
	}
}

func TestAHeadThatIsNone(t *testing.T) {
	t.Parallel()
	const header = `{"type":"session","id":"a"}`
	slot := `{"type":"title","v":1,"title":"t","updatedAt":"u","pad":""}`
	for _, content := range []string{
		"", "\n", header, slot + "\n", slot + "\n" + header, slot + "\n" + slot + "\n" + header + "\n", `{"type":"session"}` + "\n",
		`{"type":"message","id":"b"}` + "\n" + header + "\n", header + header + "\n", "{\n\"type\":\"session\",\"id\":\"a\"}\n",
		strings.Repeat(" ", 1<<20) + header + "\n", `{"type":"session","id":"` + strings.Repeat("a", 1<<20) + "\"}\n",
	} {
		_, err := shipping.ReadHead(strings.NewReader(content))
		require.Equal(t, fault.Damaged, fault.KindOf(err), "%.80q", content)
	}
	_, err := shipping.ReadHead(io.MultiReader(strings.NewReader("{"), iotest.ErrReader(st.ErrInjected)))
	require.Equal(t, fault.IO, fault.KindOf(err))
	require.ErrorIs(t, err, st.ErrInjected)
	_, err = shipping.ParseHead([]byte(header + "\n" + header + "\n"))
	require.Equal(t, fault.Damaged, fault.KindOf(err), "a head from a store has no lines of a body")
}

// Titles are redacted, and a slot keeps its length.
func TestAHeadIsRedacted(t *testing.T) {
	t.Parallel()
	slot := func(title string) string {
		bare, err := json.Marshal(map[string]any{"type": "title", "v": 1, "title": title, "updatedAt": "2026-11-20T10:25:31.343Z", "pad": ""})
		require.NoError(t, err)
		return strings.Replace(string(bare), `"pad":""`, `"pad":"`+strings.Repeat(" ", 255-len(bare))+`"`, 1) + "\n"
	}
	o := shipping.NewOutgoing(rules(t, shipping.CurrentRules))
	for _, title := range []string{"plain", "key " + key, strings.Repeat("é", 50) + key} {
		header := `{"type":"session","id":"a","title":` + string(rawjson.Quote(title)) + `,"cwd":"/home/ann"}` + "\n"
		for _, before := range []string{"", "\xEF\xBB\xBF", "garbage " + key + "\n"} {
			h, err := shipping.ParseHead([]byte(before + slot(title) + header))
			require.NoError(t, err)
			out, err := o.Head(h, "apps")
			require.NoError(t, err)
			require.NotContains(t, string(out.Raw), key)
			require.True(t, out.HasSlot())
			require.Equal(t, strings.Contains(title, key), strings.Contains(out.Title().Text, "‹redacted"), out.Title().Text)
			if !strings.HasPrefix(before, "g") {
				require.Equal(t, 256+len(before), bytes.IndexByte(out.Raw, '\n')+1)
			}
			require.Equal(t, "apps", out.Header().Cwd)
			again, err := o.Head(out, "apps")
			require.NoError(t, err)
			require.Equal(t, string(out.Raw), string(again.Raw))
		}
	}
	h, err := shipping.ParseHead([]byte(`{"type":"session","id":"` + key + `"}` + "\n"))
	require.NoError(t, err)
	_, err = o.Head(h, "")
	require.Equal(t, fault.Damaged, fault.KindOf(err))
	out, err := shipping.NewOutgoing(rules(t, 0)).Head(h, "")
	require.NoError(t, err)
	require.Equal(t, string(h.Raw), string(out.Raw))
}

// FuzzHead: the head is the beginning of any file; shipping it twice is shipping it once, and pulling it is undone by shipping it.
func FuzzHead(f *testing.F) {
	for _, content := range fixtures(f) {
		f.Add(content[:min(len(content), 4096)], "/home/ann/web")
	}
	f.Fuzz(func(t *testing.T, content []byte, cwd string) {
		h, err := shipping.ReadHead(bytes.NewReader(content))
		if err != nil {
			return
		}
		require.True(t, bytes.HasPrefix(content, h.Raw))
		out := h.Shipped("a/b")
		require.Equal(t, string(out.Raw), string(out.Shipped("a/b").Raw))
		require.Equal(t, h.Header().ID, out.Header().ID)
		parsed, err := shipping.ParseHead(out.Raw)
		require.NoError(t, err)
		require.Equal(t, out, parsed)
		pulled := out.Localized(shipping.Local{Cwd: cwd, Parent: "/x/2026_" + out.Header().ParentSession + ".jsonl"})
		if parent := out.Header().ParentSession; parent == "" || !strings.ContainsAny(parent, `/\`) && !strings.HasSuffix(parent, ".jsonl") && strings.ToValidUTF8(parent, "") == parent && !strings.Contains(parent, "\uFFFD") {
			require.Equal(t, string(normal(out.Raw)), string(normal(pulled.Shipped("a/b").Raw)))
		}
	})
}

// normal writes a parent as the splicing does: with the fewest escapes.
func normal(raw []byte) []byte {
	h, err := shipping.ParseHead(raw)
	if err != nil || h.Header().ParentSession == "" {
		return raw
	}
	return h.Localized(shipping.Local{Cwd: "a/b", Parent: h.Header().ParentSession}).Raw
}
