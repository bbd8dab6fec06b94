package tool_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/sensitive"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

func TestRead(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{
		"five":        "a\nb\nc\nd\ne\n",
		"open end":    "a\nb",
		"empty":       "",
		"blank":       "\n",
		"dos":         "\ufeffa\r\nb\r\n",
		"latin1":      "caf\xe9\n",
		"@at":         "at\n",
		"src/x":       "x\n",
		"/home/me/in": "home\n",
		"long":        numbered(2500),
		"wide":        strings.Repeat(strings.Repeat("é", 500)+"\n", 60),
		"one line":    "first\n" + strings.Repeat("x", 60_000) + "\n",
	})
	for _, c := range []struct{ name, args, want string }{
		{"whole", `{"path":"five"}`, "a\nb\nc\nd\ne\n"},
		{"a last line without an end", `{"path":"open end"}`, "a\nb"},
		{"from a line on", `{"path":"five","offset":4}`, "d\ne\n"},
		{"some lines", `{"path":"five","offset":2,"limit":2}`, "b\nc\n\n[2 more lines in the file. Use offset=4 to continue.]"},
		{"the line before the last", `{"path":"five","limit":4}`, "a\nb\nc\nd\n\n[1 more line in the file. Use offset=5 to continue.]"},
		{"a limit beyond the end", `{"path":"five","limit":9223372036854775807}`, "a\nb\nc\nd\ne\n"},
		{"numbers as strings", `{"path":"five","offset":"5","limit":null}`, "e\n"},
		{"an empty file", `{"path":"empty"}`, "(the file is empty)"},
		{"a line with nothing on it", `{"path":"blank"}`, "\n"},
		{"line ends and the mark of other systems", `{"path":"dos"}`, "a\nb\n"},
		{"bytes that are no characters", `{"path":"latin1"}`, "caf\uFFFD\n"},
		{"a name with an at", `{"path":"@at"}`, "at\n"},
		{"a path that was mentioned", `{"path":"@src/x"}`, "x\n"},
		{"home", `{"path":"~/in"}`, "home\n"},
		{"another name of the parameter", `{"file_path":"src/x"}`, "x\n"},
		{"oh-my-pi: a range", `{"path":"five","sel":"L2-L3"}`, "b\nc\n\n[2 more lines in the file. Use offset=4 to continue.]"},
		{"oh-my-pi: from a line on", `{"path":"five","sel":"L4","timeout":5}`, "d\ne\n"},
		{"oh-my-pi: an open range", `{"path":"five","sel":"4-"}`, "d\ne\n"},
		{"oh-my-pi: a number of lines", `{"path":"five","sel":"L4+2"}`, "d\ne\n"},
		{"oh-my-pi: raw", `{"path":"five","sel":"raw"}`, "a\nb\nc\nd\ne\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, w.in(t).ok("read", c.args))
		})
	}
}

func TestReadReportsTruncation(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{
		"long": numbered(2500),
		"wide": strings.Repeat(strings.Repeat("é", 500)+"\n", 60), // 60060 bytes
		"line": "first\n" + strings.Repeat("x", 60_000) + "\n",
	})
	r, err := w.call("read", `{"path":"long"}`)
	require.NoError(t, err)
	require.True(t, strings.HasSuffix(text(r), "\nline 0\n\n[Showing lines 1-2000 of 2500. Use offset=2001 to continue.]"))
	require.JSONEq(t, `{"truncation":{"content":"","truncated":true,"truncatedBy":"lines","totalLines":2500,"totalBytes":17500,
		"outputLines":2000,"outputBytes":13999,"lastLinePartial":false,"firstLineExceedsLimit":false,"maxLines":2000,"maxBytes":51200}}`, string(r.Details))
	require.Equal(t, numbered(2500)[7*2000:], w.ok("read", `{"path":"long","offset":2001}`), "the rest")

	require.True(t, strings.HasSuffix(w.ok("read", `{"path":"wide","offset":2}`),
		"é\n\n[Showing lines 2-52 of 60 (50.0KB limit). Use offset=53 to continue.]"))
	require.Equal(t, "[Line 2 is 58.6KB, more than the limit of 50.0KB. Use bash: sed -n '2p' line | head -c 51200]",
		w.ok("read", `{"path":"line","offset":2}`))
}

func TestReadRefuses(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{"five": "a\nb\nc\nd\ne\n", "dir/x": "", "bin": "\x7fELF\x00\x01", "empty": ""})
	for _, c := range []struct{ name, args, want string }{
		{"a missing file", `{"path":"nope"}`, "File not found: /w/nope"},
		{"a directory", `{"path":"dir"}`, "/w/dir is a directory; use ls to list it."},
		{"a binary file", `{"path":"bin"}`, "bin is a binary file (6B). read shows text and images; use bash (file, strings, xxd) to inspect it."},
		{"a line beyond the end", `{"path":"five","offset":6}`, "Offset 6 is beyond the end of five, which has 5 lines."},
		{"a line of an empty file", `{"path":"empty","offset":2}`, "Offset 2 is beyond the end of empty, which has 0 lines."},
		{"a negative line", `{"path":"five","offset":-1}`, "read: offset and limit must be at least 1."},
		{"no path", `{}`, `read needs the parameter "path".`},
		{"an unknown parameter", `{"path":"five","line":3}`, `read has no parameter "line"; it takes path, offset, limit.`},
		{"a wrong type", `{"path":["five"]}`, `read: "path" must be a string, not a list.`},
		{"half a line", `{"path":"five","offset":1.5}`, `read: "offset" must be a whole number, not this number.`},
		{"no object", `["five"]`, "The arguments of read must be one JSON object."},
		{"no JSON", `{"path":`, "The arguments of read must be one JSON object."},
		{"a chunk", `{"path":"five","sel":"func#main"}`, `read cannot select "func#main"; use offset and limit, which count lines.`},
		{"a range that ends before it begins", `{"path":"five","sel":"L3-L2"}`, `read: the selection "L3-L2" ends before it begins.`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, w.in(t).refused("read", c.args))
		})
	}
	_, err := w.call("read", `{"path":"nope"}`)
	require.True(t, fault.Is(err, fault.NotFound))
}

func TestReadShowsImages(t *testing.T) {
	t.Parallel()
	for mime, content := range map[string]string{
		"image/png":  "\x89PNG\r\n\x1a\n\x00\x00",
		"image/jpeg": "\xff\xd8\xff\xe0\x00",
		"image/gif":  "GIF89a\x00",
		"image/webp": "RIFF\x00\x00\x00\x00WEBPVP8 ",
	} {
		w := newWorld(t, map[string]string{"picture.txt": content}) // the name does not matter
		r, err := w.call("read", `{"path":"picture.txt"}`)
		require.NoError(t, err)
		require.Equal(t, []provider.Block{
			provider.Text("Read image file [" + mime + "]"),
			{Type: provider.TypeImage, MimeType: mime, Data: base64.StdEncoding.EncodeToString([]byte(content))},
		}, r.Content)
	}
	w := newWorld(t, map[string]string{"big.gif": "GIF89a" + strings.Repeat("\x00", 4<<20)})
	require.Equal(t, "big.gif is an image (image/gif) of 4.0MB. (image omitted: it is larger than 4 MB and cannot be scaled) "+
		"Make a smaller copy with bash and read that.", w.ok("read", `{"path":"big.gif"}`))

	var wide bytes.Buffer
	require.NoError(t, png.Encode(&wide, image.NewGray(image.Rect(0, 0, 9000, 10))))
	w = newWorld(t, map[string]string{"wide.png": wide.String()})
	r, err := w.call("read", `{"path":"wide.png"}`)
	require.NoError(t, err)
	config, err := png.DecodeConfig(base64.NewDecoder(base64.StdEncoding, strings.NewReader(r.Content[1].Data)))
	require.NoError(t, err)
	require.Equal(t, 2000, config.Width, "scaled to what services take")
}

// A model reads the user's unsaved changes.
func TestReadPrefersTheBuffer(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{"x": "on disk\n"})
	w.env.Files = &editor{Workspace: w.env.Files, buffers: map[string]string{"/w/x": "unsaved\n", "/w/new": "never saved\n"}}
	require.Equal(t, "unsaved\n", w.ok("read", `{"path":"x"}`))
	require.Equal(t, "never saved\n", w.ok("read", `{"path":"new"}`))
}

func TestToolsHaveAStableOrderAndSchemas(t *testing.T) {
	t.Parallel()
	var names []string
	changes := map[string]bool{}
	for _, tl := range tool.All(tool.Options{}) {
		names = append(names, tl.Name)
		changes[tl.Name] = tl.Changes
		require.NotEmpty(t, tl.Description)
		require.Contains(t, string(tl.Parameters), `"type":"object"`)
		require.NotContains(t, string(tl.Parameters), `"null"`)
	}
	require.Equal(t, []string{"read", "bash", "edit", "write", "grep", "find", "ls"}, names)
	require.Equal(t, map[string]bool{
		"read": false, "bash": true, "edit": true, "write": true, "grep": false, "find": false, "ls": false,
	}, changes)
	again := tool.All(tool.Options{})
	for i, tl := range tool.All(tool.Options{}) {
		require.Equal(t, tl.Parameters, again[i].Parameters)
	}
}

// Keys are not shown, under any name and by any tool.
func TestKeysAreNotShown(t *testing.T) {
	t.Parallel()
	private := t.TempDir()
	secrets := sensitive.New(sensitive.Env{Home: private, OS: runtime.GOOS, AgentDirs: []string{private}})
	w := diskWorld(t, tool.Options{Private: secrets}, map[string]string{
		filepath.Join(private, "auth.json"): "secret", filepath.Join(private, "plain.json"): "secret no more", "auth.json": "secret of another",
		filepath.Join(private, ".ssh", "id"): "secret",
	})
	link := w.path("link")
	require.NoError(t, os.Symlink(filepath.Join(private, "auth.json"), link))
	hard := w.path("hard")
	require.NoError(t, os.Link(filepath.Join(private, "auth.json"), hard))
	for _, path := range []string{filepath.Join(private, "auth.json"), link, hard, filepath.Join(private, ".ssh", "id")} {
		require.Contains(t, w.refused("read", object(t, "path", path)), "may contain keys or passwords, so tools do not read or change it")
		require.Contains(t, w.refused("grep", object(t, "pattern", "secret", "path", path)), "may contain keys")
		require.Contains(t, w.refused("write", object(t, "path", path, "content", "x")), "may contain keys")
		require.Contains(t, w.refused("edit", object(t, "path", path, "edits", []any{map[string]any{"oldText": "secret", "newText": "x"}})), "may contain keys")
	}
	require.Contains(t, w.refused("ls", object(t, "path", filepath.Join(private, ".ssh"))), "may contain keys")
	require.Contains(t, w.refused("find", object(t, "path", filepath.Join(private, ".ssh"), "pattern", "*")), "may contain keys")
	require.Equal(t, "secret of another", w.ok("read", `{"path":"auth.json"}`))
	found := w.ok("grep", object(t, "pattern", "secret", "path", private))
	require.Contains(t, found, "plain.json")
	require.NotContains(t, found, "auth.json")
	require.NotContains(t, found, ".ssh")
	require.Equal(t, "plain.json", w.ok("find", object(t, "pattern", "*", "path", private)))
	here := w.ok("grep", `{"pattern":"secret$"}`)
	require.NotContains(t, here, "link")
	require.NotContains(t, here, "hard")
}

// swapping is a workspace in which a link leads to a secret only while a file is read.
type swapping struct {
	tool.Workspace
	link, plain, secret string
}

func (s swapping) ReadFile(ctx context.Context, path string) (tool.File, error) {
	_ = os.Remove(s.link)
	_ = os.Symlink(s.secret, s.link)
	defer func() {
		_ = os.Remove(s.link)
		_ = os.Symlink(s.plain, s.link)
	}()
	return s.Workspace.ReadFile(ctx, path)
}

// A command that continues in the background can exchange links between the check and the read.
func TestALinkThatChangesMeanwhileShowsNothing(t *testing.T) {
	t.Parallel()
	private := t.TempDir()
	w := diskWorld(t, tool.Options{Private: sensitive.New(sensitive.Env{Home: private, OS: runtime.GOOS})}, map[string]string{
		filepath.Join(private, ".netrc"): "secret", "plain": "plain",
	})
	require.NoError(t, os.Symlink(w.path("plain"), w.path("link")))
	w.env.Files = swapping{w.env.Files, w.path("link"), w.path("plain"), filepath.Join(private, ".netrc")}
	require.Contains(t, w.refused("read", `{"path":"link"}`), "may contain keys")
	require.Contains(t, w.refused("edit", `{"path":"link","edits":[{"oldText":"x","newText":"y"}]}`), "may contain keys")
	require.Contains(t, w.refused("write", `{"path":"link","content":"y"}`), "may contain keys")
	require.Equal(t, "plain", w.ok("read", `{"path":"plain"}`))
}
