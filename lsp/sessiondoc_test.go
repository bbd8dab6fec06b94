package lsp_test

import (
	"context"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/internal/lsptest"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
	"github.com/xcsh-ls/xcsh-ls/lsp"
	"github.com/xcsh-ls/xcsh-ls/lsp/textdoc"
	"github.com/xcsh-ls/xcsh-ls/session/library"
)

// sessionEditor returns an editor on folder /w over files in memory, with sessions in /s.
func (f *fixture) sessionEditor(t testing.TB, fs afero.Fs, capabilities string) *lsptest.Editor {
	t.Helper()
	f.options.Open = func(context.Context, lsp.Settings, lsp.Client) (lsp.Backend, error) {
		return lsp.Backend{Fs: fs, Live: f.live, Finder: library.Finder{Fs: fs, SessionDir: "/s"}}, nil
	}
	ed := lsptest.Start(t, f.options)
	ed.Initialize(lsptest.Fields{
		"workspaceFolders": []lsptest.Fields{{"uri": "file:///w", "name": "w"}}, "capabilities": rawJSON(capabilities),
	})
	return ed
}

// about sends a request about a document; more are further parameters.
func about(t testing.TB, ed *lsptest.Editor, method, path string, more lsptest.Fields) string {
	t.Helper()
	params := lsptest.Fields{"textDocument": lsptest.Fields{"uri": lsptest.URI(path)}}
	maps.Copy(params, more)
	result, err := ed.Call(method, params)
	require.Nil(t, err, method)
	return string(result)
}

// published counts the notifications with diagnostics so far. It sends a request first, as a barrier.
func published(t testing.TB, ed *lsptest.Editor) (n int) {
	t.Helper()
	_, err := ed.Exec("test.echo", lsptest.Fields{"text": "x"})
	require.Nil(t, err)
	for _, m := range ed.Messages() {
		if m.Method == "textDocument/publishDiagnostics" {
			n++
		}
	}
	return n
}

const docPath = "/w/x.jsonl"

var (
	goodText = st.File(st.Header("s", "/w"), st.User("aaaaaaaa", "", "one"), st.Assistant("bbbbbbbb", "aaaaaaaa", "two"))
	badText  = goodText + "{\n"
)

// diagnosticsOf decodes the parameters of a notification with diagnostics.
func diagnosticsOf(t testing.TB, raw json.RawMessage) (version int, codes []string) {
	t.Helper()
	var p struct {
		Version     int
		Diagnostics []struct{ Code string }
	}
	require.NoError(t, json.Unmarshal(raw, &p))
	for _, d := range p.Diagnostics {
		codes = append(codes, d.Code)
	}
	return p.Version, codes
}

// While the user types, diagnostics wait for a pause, and only those of the last version are published.
func TestDiagnosticsWaitForAPause(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ed := f.sessionEditor(t, afero.NewMemMapFs(), `{}`)
	ed.Open(docPath, goodText)
	version, codes := diagnosticsOf(t, ed.WaitNotification("textDocument/publishDiagnostics"))
	require.Equal(t, 1, version)
	require.Empty(t, codes)

	ed.Change(docPath, 2, badText)
	require.Equal(t, 1, published(t, ed))
	f.clock.advance(299 * time.Millisecond)
	ed.Change(docPath, 3, badText+"junk\n")
	require.Equal(t, 1, published(t, ed))
	f.clock.advance(299 * time.Millisecond)
	require.Equal(t, 1, published(t, ed), "the pause starts again")
	f.clock.advance(time.Millisecond)
	version, codes = diagnosticsOf(t, ed.WaitNotification("textDocument/publishDiagnostics"))
	require.Equal(t, 3, version)
	require.Equal(t, []string{"malformedLine", "malformedLine"}, codes)

	ed.Change(docPath, 4, goodText)
	ed.Close(docPath)
	_, codes = diagnosticsOf(t, ed.WaitNotification("textDocument/publishDiagnostics"))
	require.Empty(t, codes, "closing clears them")
	before := published(t, ed)
	f.clock.advance(time.Second)
	require.Equal(t, before, published(t, ed), "a closed document has no diagnostics")
}

// The diagnostics of a document are cleared when it stops being a session, and published when it becomes
// one.
func TestDiagnosticsAppearAndDisappearWithTheSession(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ed := f.sessionEditor(t, afero.NewMemMapFs(), `{}`)
	ed.Open(docPath, badText)
	_, codes := diagnosticsOf(t, ed.WaitNotification("textDocument/publishDiagnostics"))
	require.NotEmpty(t, codes)
	ed.Change(docPath, 2, "{}\n{\n")
	require.Equal(t, "null", about(t, ed, "textDocument/documentSymbol", docPath, nil))
	_, codes = diagnosticsOf(t, ed.WaitNotification("textDocument/publishDiagnostics"))
	require.Empty(t, codes)
	ed.Open("/s/junk.jsonl", "junk\n")
	_, codes = diagnosticsOf(t, ed.WaitNotification("textDocument/publishDiagnostics"))
	require.Equal(t, []string{"malformedLine", "noHeader"}, sorted(codes), "it lies where sessions are kept")
}

func sorted(s []string) []string {
	if len(s) == 2 && s[0] > s[1] {
		return []string{s[1], s[0]}
	}
	return s
}

func TestDiagnosticsAreBounded(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ed := f.sessionEditor(t, afero.NewMemMapFs(), `{}`)
	ed.Open(docPath, goodText+strings.Repeat(st.User("cccccccc", "dddddddd", "x")+"\n", 1000)+strings.Repeat("{\n", 1000))
	_, codes := diagnosticsOf(t, ed.WaitNotification("textDocument/publishDiagnostics"))
	require.Len(t, codes, 100)
}

// Positions are in the client's encoding, whatever line ends the text has.
func TestPlacesInSessionDocuments(t *testing.T) {
	t.Parallel()
	entry := `{"type":"message","id":"aaaaaaaa","parentId":null,"timestamp":"t","message":{"role":"fileMention","é😀":1,"files":[{"path":"a"}]}}`
	at := strings.Index(entry, `"a"`) + 1
	for name, tc := range map[string]struct {
		units, end string
		line, char int
	}{
		"utf-8":   {"utf-8", "\n", 1, at},
		"utf-16":  {"utf-16", "\n", 1, at - 3},
		"utf-32":  {"utf-32", "\n", 1, at - 4},
		"CRLF":    {"utf-16", "\r\n", 1, at - 3},
		"lone CR": {"utf-16", "\n\r\r\n", 3, at - 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ed := newFixture(t).sessionEditor(t, afero.NewMemMapFs(), `{"general":{"positionEncodings":["`+tc.units+`"]}}`)
			ed.Open(docPath, st.Header("s", "/w")+tc.end+entry)
			var links []struct {
				Range struct{ Start, End textdoc.Position }
			}
			require.NoError(t, json.Unmarshal([]byte(about(t, ed, "textDocument/documentLink", docPath, nil)), &links))
			require.Len(t, links, 1)
			require.Equal(t, textdoc.Position{Line: int64(tc.line), Character: int64(tc.char)}, links[0].Range.Start)
			require.Equal(t, textdoc.Position{Line: int64(tc.line), Character: int64(tc.char) + 1}, links[0].Range.End)
			require.Contains(t, about(t, ed, "textDocument/hover", docPath, lsptest.Fields{"position": links[0].Range.Start}), "Files")
		})
	}
}

// Hovers work for an entry that is not exactly one line, too.
func TestHoverOverUnusualLines(t *testing.T) {
	t.Parallel()
	ed := newFixture(t).sessionEditor(t, afero.NewMemMapFs(), `{}`)
	ed.Open(docPath, st.Header("s", "/w")+"\n"+st.User("aaaaaaaa", "", "first")+st.User("bbbbbbbb", "aaaaaaaa", "second")+
		"\n{\n\"type\":\"label\",\n\"id\":\"cccccccc\",\"label\":\"third\"}\njunk\n")
	over := func(line, char int) string {
		return about(t, ed, "textDocument/hover", docPath, lsptest.Fields{"position": lsptest.Fields{"line": line, "character": char}})
	}
	require.Contains(t, over(1, 0), "first")
	require.Contains(t, over(1, len(st.User("aaaaaaaa", "", "first"))+1), "second")
	require.Contains(t, over(3, 0), "third")
	require.Contains(t, over(3, 0), `"kind":"plaintext"`, "the client knows no Markdown")
	require.Equal(t, "null", over(5, 0))
	require.Equal(t, "null", over(99, 0))
}

// The text of a message cannot make the editor load anything.
func TestHoverLoadsNothing(t *testing.T) {
	t.Parallel()
	ed := newFixture(t).sessionEditor(t, afero.NewMemMapFs(), `{"textDocument":{"hover":{"contentFormat":["markdown"]}}}`)
	ed.Open(docPath, st.File(st.Header("s", "/w"), st.Assistant("aaaaaaaa", "", "```\n![a](http://a/)\n```\n<img src=x> <IFRAME> a<b")))
	shown := about(t, ed, "textDocument/hover", docPath, lsptest.Fields{"position": lsptest.Fields{"line": 1, "character": 0}})
	require.Contains(t, shown, `"kind":"markdown"`)
	require.Contains(t, shown, "\\n![a](http://a/)\\n```", "in a code block, which loads nothing")
	require.Contains(t, shown, "a&lt;b")
	for _, s := range []string{"<img", "<IFRAME"} {
		require.NotContains(t, shown, s)
	}
}

// The text is that in the editor, else that on disk. Files outside the workspace and the session
// directories are not read, not even through a link.
// Proves: E-08
func TestOnlySessionsInReachAreRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	fs := afero.NewBasePathFs(afero.NewOsFs(), "/")
	for _, d := range []string{"w", "s", "out"} {
		require.NoError(t, fs.MkdirAll(filepath.Join(dir, d), 0o700))
	}
	write := func(path, text string) string {
		path = filepath.Join(dir, path)
		require.NoError(t, afero.WriteFile(fs, path, []byte(text), 0o600))
		return path
	}
	inFolder, kept, out := write("w/a.jsonl", goodText), write("s/b.jsonl", "junk"), write("out/c.jsonl", goodText)
	link := filepath.Join(dir, "w", "link.jsonl")
	if err := os.Symlink(out, link); err != nil {
		t.Skip(err)
	}
	f := newFixture(t)
	f.options.Open = func(context.Context, lsp.Settings, lsp.Client) (lsp.Backend, error) {
		finder := library.Finder{Fs: fs, SessionDir: filepath.Join(dir, "s"), RealPath: filepath.EvalSymlinks}
		return lsp.Backend{Fs: fs, Live: f.live, Finder: finder}, nil
	}
	ed := lsptest.Start(t, f.options)
	ed.Initialize(lsptest.Fields{"workspaceFolders": []lsptest.Fields{{"uri": lsptest.URI(filepath.Join(dir, "w")), "name": "w"}}})
	symbols := func(path string) string { return about(t, ed, "textDocument/documentSymbol", path, nil) }
	require.Contains(t, symbols(inFolder), "one")
	require.Equal(t, "[]", symbols(kept))
	require.Equal(t, "null", symbols(out))
	require.Equal(t, "null", symbols(link))
	require.Equal(t, "null", symbols(filepath.Join(dir, "w", "gone.jsonl")))
	ed.Open(out, goodText)
	require.Contains(t, symbols(out), "one", "the user opened it")
	ed.Open(inFolder, strings.Replace(goodText, "one", "unsaved", 1))
	require.Contains(t, symbols(inFolder), "unsaved")
}

// Clients without support for hierarchical symbols and code action literals get the older forms.
// Proves: E-06
func TestPlainClients(t *testing.T) {
	t.Parallel()
	ed := newFixture(t).sessionEditor(t, afero.NewMemMapFs(), `{"textDocument":{"foldingRange":{"rangeLimit":1}}}`)
	ed.Open(docPath, goodText+st.File(st.User("cccccccc", "bbbbbbbb", "three"), st.Assistant("dddddddd", "cccccccc", "four")))
	symbols := about(t, ed, "textDocument/documentSymbol", docPath, nil)
	require.Contains(t, symbols, `"location":{"uri":"file:///w/x.jsonl"`)
	require.Contains(t, symbols, `"containerName":"one"`)
	require.JSONEq(t, `[{"startLine":1,"endLine":2,"kind":"region"}]`, about(t, ed, "textDocument/foldingRange", docPath, nil))
	actions := about(t, ed, "textDocument/codeAction", "/w/a.go", lsptest.Fields{
		"range": rawJSON(`{"start":{"line":0,"character":0},"end":{"line":0,"character":1}}`), "context": rawJSON(`{"diagnostics":[]}`),
	})
	require.Contains(t, actions, `[{"title":"Ask xcsh: explain this","command":"xcsh.prompt","arguments":[{`)
}

// The arguments of lenses and actions are valid for their commands.
func TestCommandsOfLensesAndActionsAreReal(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ed := f.sessionEditor(t, afero.NewMemMapFs(), `{"textDocument":{"codeAction":{"codeActionLiteralSupport":{}}}}`)
	ed.Notify("workspace/didChangeWorkspaceFolders", rawJSON(`{"event":{"removed":[],"added":[{"uri":"file:///w/sub","name":"sub"}]}}`))
	ed.Open(docPath, goodText)
	type ref struct {
		Command   string
		Arguments []json.RawMessage
	}
	var lenses []struct{ Command ref }
	require.NoError(t, json.Unmarshal([]byte(about(t, ed, "textDocument/codeLens", docPath, nil)), &lenses))
	require.Len(t, lenses, 5)
	var actions []struct{ Command ref }
	raw := about(t, ed, "textDocument/codeAction", "/w/sub/a.go", lsptest.Fields{
		"range":   rawJSON(`{"start":{"line":0,"character":0},"end":{"line":0,"character":1}}`),
		"context": rawJSON(`{"diagnostics":[{"range":{"start":{"line":0,"character":0},"end":{"line":0,"character":1}},"message":{"kind":"markdown","value":"bad"}}]}`),
	})
	require.NoError(t, json.Unmarshal([]byte(raw), &actions))
	require.Len(t, actions, 2)
	for _, c := range append(lenses, actions...) {
		require.Contains(t, commands.Default.Names(), c.Command.Command)
		require.Len(t, c.Command.Arguments, 1)
		require.Contains(t, string(c.Command.Arguments[0]), `"cwd":"/w`)
		// Without a backend a command can only check its arguments.
		_, err := commands.Default.Execute(t.Context(), &commands.Env{Folders: func() []string { return nil }}, c.Command.Command,
			append(c.Command.Arguments, nil)[:2])
		require.ErrorContains(t, err, "one JSON object")
	}
	require.Contains(t, string(actions[0].Command.Arguments[0]), `"cwd":"/w/sub"`, "the innermost folder")
}

// Requests about documents are answered whatever the form of their parameters, with null if they name no
// document.
func TestDocumentRequestsTakeAnything(t *testing.T) {
	t.Parallel()
	ed := newFixture(t).sessionEditor(t, afero.NewMemMapFs(), `{}`)
	for _, method := range []string{
		"textDocument/documentSymbol", "textDocument/foldingRange", "textDocument/hover", "textDocument/documentLink",
		"textDocument/codeLens", "textDocument/codeAction", "workspace/textDocumentContent",
	} {
		for _, params := range []any{nil, rawJSON(`{}`), rawJSON(`{"textDocument":{"uri":"untitled:x"}}`), rawJSON(`{"textDocument":3}`), rawJSON(`[]`)} {
			result, err := ed.Call(method, params)
			if err != nil {
				require.Contains(t, []string{"invalidArgument", "notFound"}, err.Kind(), method)
				continue
			}
			require.Contains(t, []string{"null", "[]"}, string(result), method)
		}
	}
}

// The server survives hostile documents.
// Proves: E-07
func TestHostileSessionDocuments(t *testing.T) {
	t.Parallel()
	ed := newFixture(t).sessionEditor(t, afero.NewMemMapFs(), `{}`)
	for n, text := range []string{
		"", "\xff\xfe", "\uFEFF" + goodText, strings.Repeat("[", 1<<20), strings.Repeat("\r", 1<<16) + goodText,
		st.Header("s", "/w") + strings.Repeat("\n{", 1<<14), st.Header("s", "/w") + strings.Repeat("\n"+st.User("aaaaaaaa", "aaaaaaaa", "x"), 1<<12),
		st.Header("s", "/w") + strings.Repeat(st.User("", "", "x"), 1<<10),
	} {
		ed.ChangeWith("/s/x.jsonl", n, lsptest.Fields{"text": text})
		ed.Open("/s/x.jsonl", text)
		for _, method := range []string{
			"textDocument/documentSymbol", "textDocument/foldingRange", "textDocument/hover", "textDocument/documentLink", "textDocument/codeLens",
		} {
			about(t, ed, method, "/s/x.jsonl", lsptest.Fields{"position": lsptest.Fields{"line": 1 << 40, "character": -1}})
			about(t, ed, method, "/s/x.jsonl", lsptest.Fields{"position": lsptest.Fields{"line": 1, "character": 3}})
		}
		ed.Close("/s/x.jsonl")
	}
}

// A request about a text that changes meanwhile is answered or fails with ContentModified. A request about
// the last text is answered.
func TestQuestionsWhileTyping(t *testing.T) {
	t.Parallel()
	ed := newFixture(t).sessionEditor(t, afero.NewMemMapFs(), `{}`)
	text := goodText + strings.Repeat(st.User("cccccccc", "bbbbbbbb", strings.Repeat("x", 1000))+"\n", 2000)
	ed.Open(docPath, text)
	var asked []*lsptest.Pending
	for version := 2; version < 40; version++ {
		for _, method := range []string{"textDocument/documentSymbol", "textDocument/hover"} {
			asked = append(asked, ed.Begin(method, lsptest.Fields{
				"textDocument": lsptest.Fields{"uri": lsptest.URI(docPath)}, "position": lsptest.Fields{"line": 2000, "character": 0},
			}))
		}
		ed.ChangeWith(docPath, version, rawJSON(`{"range":{"start":{"line":3,"character":0},"end":{"line":3,"character":0}},"text":" "}`))
	}
	for _, p := range asked {
		if result, err := p.Wait(); err != nil {
			require.Equal(t, -32801, err.Code, err.Message)
		} else {
			require.NotEqual(t, "null", string(result))
		}
	}
	require.Contains(t, about(t, ed, "textDocument/documentSymbol", docPath, nil), "one")
}
