package lsp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/internal/lsptest"
	"github.com/xcsh-ls/xcsh-ls/lsp"
)

type inputArgs struct {
	Title   string `json:"text"`
	Hint    string `json:"hint"`
	Initial string `json:"initial"`
}

type inputResult struct {
	Text string `json:"text"`
	OK   bool   `json:"ok"`
}

func runInput(ctx context.Context, env *commands.Env, a inputArgs) (inputResult, error) {
	text, ok, err := env.UI.Input(ctx, commands.InputRequest{Title: a.Title, Hint: a.Hint, Initial: a.Initial})
	return inputResult{text, ok}, err
}

// inputLine is the marker line of a file that asks "Why?".
const inputLine = "<!-- Why? Write above this line and save. Save nothing above it to cancel. -->\n"

var (
	showsDocuments = lsptest.Fields{"window": lsptest.Fields{"showDocument": lsptest.Fields{"support": true}}}
	why            = lsptest.Fields{"text": "Why?"}
)

// writer is an editor whose user is asked for texts.
type writer struct {
	*lsptest.Editor
	t    *testing.T
	dir  string // where the files are made
	docs *lsp.Documents
	f    *fixture
}

func newWriter(t *testing.T, capabilities any) *writer {
	t.Helper()
	w := &writer{t: t, dir: filepath.Join(t.TempDir(), "input"), f: newFixture(t)}
	return w.start(capabilities)
}

func (w *writer) start(capabilities any) *writer {
	w.t.Helper()
	w.f.options.Open = wrapOpen(w.f.options.Open, func(b *lsp.Backend) { b.InputDir = w.dir })
	w.Editor = lsptest.Start(w.t, w.f.options)
	w.Initialize(lsptest.Fields{"capabilities": capabilities})
	w.docs = receive(w.t, w.f.docs)
	return w
}

// shown waits for the request to open a file, reports success and returns the path.
func (w *writer) shown() string {
	w.t.Helper()
	r := w.WaitRequest("window/showDocument")
	p := decode[struct {
		URI       string
		TakeFocus bool
		External  bool
	}](w.t, r.Params)
	require.True(w.t, p.TakeFocus)
	require.False(w.t, p.External)
	r.Reply(lsptest.Fields{"success": true})
	return lsptest.Path(w.t, p.URI)
}

// prepend writes text above the marker line.
func (w *writer) prepend(path, text string) {
	w.t.Helper()
	require.NoError(w.t, os.WriteFile(path, []byte(text+w.read(path)), 0o600))
}

func (w *writer) read(path string) string {
	w.t.Helper()
	content, err := os.ReadFile(path)
	require.NoError(w.t, err)
	return string(content)
}

// settle advances the clock by inputSettle until the command is answered.
func (w *writer) settle(p *lsptest.Pending) (json.RawMessage, *lsptest.Error) {
	stop, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-stop:
				return
			case <-time.After(time.Millisecond):
				w.f.clock.advance(time.Second)
			}
		}
	}()
	defer func() { close(stop); <-ended }()
	return p.Wait()
}

// requireAnswer checks the text that the command got, and that no file is left.
func (w *writer) requireAnswer(want string, raw json.RawMessage, err *lsptest.Error) {
	w.t.Helper()
	require.Nil(w.t, err)
	require.Equal(w.t, inputResult{want, true}, decode[inputResult](w.t, raw))
	w.requireEmpty()
}

func (w *writer) requireEmpty() {
	w.t.Helper()
	left, err := os.ReadDir(w.dir)
	require.NoError(w.t, err)
	require.Empty(w.t, left)
}

func TestInputTitleThatIsNoSentence(t *testing.T) {
	t.Parallel()
	w := newWriter(t, showsDocuments)
	exec := w.BeginExec("test.input", lsptest.Fields{"text": "New title"})
	path := w.shown()
	require.Equal(t, "\n<!-- New title: Write above this line and save. Save nothing above it to cancel. -->\n", w.read(path))
	exec.Cancel()
	_, _ = exec.Wait()
}

func TestInputIsAPrivateFileOfTheUser(t *testing.T) {
	t.Parallel()
	w := newWriter(t, showsDocuments)
	exec := w.BeginExec("test.input", lsptest.Fields{"text": "Which title, please?", "hint": "A short --> one.", "initial": "Old"})
	path := w.shown()
	require.Equal(t, w.dir, filepath.Dir(path))
	require.Regexp(t, fmt.Sprintf(`^which-title-please-%d-[0-9a-f]{16}\.md$`, os.Getpid()), filepath.Base(path))
	require.Equal(t, "Old\n<!-- Which title, please? A short → one. Write above this line and save. Save nothing above it to cancel. -->\n", w.read(path))
	if runtime.GOOS != "windows" {
		for name, mode := range map[string]os.FileMode{path: 0o600, w.dir: 0o700} {
			info, err := os.Stat(name)
			require.NoError(t, err)
			require.Equal(t, mode, info.Mode().Perm(), name)
		}
	}
	w.Save(path)
	raw, err := exec.Wait()
	w.requireAnswer("Old", raw, err)
}

// The user may change the file in many ways before saving it.
// Proves: E-02
func TestInputTexts(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ file, want string }{
		"a text":                    {"because\n" + inputLine, "because"},
		"blank lines around":        {"\n \t\n  indented\n\nlast \n\n\n" + inputLine, "  indented\n\nlast "},
		"nothing":                   {"\n" + inputLine, ""},
		"white space":               {" \n\t\n" + inputLine, ""},
		"an empty file":             {"", ""},
		"the line deleted":          {"all of it\n\n", "all of it"},
		"text below the line":       {"above\n" + inputLine + "below\n", "above"},
		"the line indented":         {"above\n  " + inputLine, "above"},
		"line ends of Windows":      {"one\r\ntwo\r\n\r\n" + strings.ReplaceAll(inputLine, "\n", "\r\n"), "one\ntwo"},
		"a byte order mark":         {"\ufeffone\n" + inputLine, "one"},
		"bytes that are no text":    {"a\xff\n" + inputLine, "a\ufffd"},
		"the words in another line": {"Write above this line and save.\n" + inputLine, "Write above this line and save."},
		"another comment":           {"<!-- mine -->\n" + inputLine, "<!-- mine -->"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWriter(t, showsDocuments)
			exec := w.BeginExec("test.input", why)
			path := w.shown()
			require.NoError(t, os.WriteFile(path, []byte(tc.file), 0o600))
			w.Save(path)
			raw, err := exec.Wait()
			w.requireAnswer(tc.want, raw, err)
		})
	}
}

// A client may start the server only for other languages than Markdown. Then it reports nothing, and the
// server notices the change on disk, however the editor writes it.
// Proves: E-02
func TestInputSavedOnDiskOnly(t *testing.T) {
	t.Parallel()
	for name, save := range map[string]func(w *writer, path string){
		"written over": func(w *writer, path string) { w.prepend(path, "because\n") },
		"put in its place": func(w *writer, path string) {
			require.NoError(w.t, os.WriteFile(path+"~", []byte("because\n"+inputLine), 0o600))
			require.NoError(w.t, os.Rename(path+"~", path))
		},
		"moved away and recreated": func(w *writer, path string) {
			require.NoError(w.t, os.Rename(path, path+"~"))
			require.NoError(w.t, os.WriteFile(path, []byte("because\n"+inputLine), 0o600))
			require.NoError(w.t, os.Remove(path+"~"))
		},
		"saved twice": func(w *writer, path string) {
			w.prepend(path, "use\n")
			require.NoError(w.t, os.WriteFile(path, []byte("because\n"+inputLine), 0o600))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWriter(t, showsDocuments)
			exec := w.BeginExec("test.input", why)
			save(w, w.shown())
			raw, err := w.settle(exec)
			w.requireAnswer("because", raw, err)
		})
	}
}

// If the client saves twice, the second notification is ignored.
func TestInputSavedTwice(t *testing.T) {
	t.Parallel()
	w := newWriter(t, showsDocuments)
	exec := w.BeginExec("test.input", why)
	path := w.shown()
	w.prepend(path, "because\n")
	w.Save(path)
	w.Save(path)
	raw, err := exec.Wait()
	w.requireAnswer("because", raw, err)
	w.Save(path)
	w.Close(path)
	_, err = w.Exec("test.echo", nil)
	require.Nil(t, err)
}

// Proves: E-02
func TestInputIsCancelled(t *testing.T) {
	t.Parallel()
	for name, cancel := range map[string]func(w *writer, path string){
		"saved as it was":                 func(w *writer, path string) { w.Save(path) },
		"closed":                          func(w *writer, path string) { w.Open(path, w.read(path)); w.Close(path) },
		"closed with unsaved text":        func(w *writer, path string) { w.Open(path, w.read(path)); w.Change(path, 2, "x"); w.Close(path) },
		"closed, opened and closed again": func(w *writer, path string) { w.Close(path); w.Open(path, w.read(path)); w.Close(path) },
		"removed":                         func(w *writer, path string) { require.NoError(w.t, os.Remove(path)) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWriter(t, showsDocuments)
			exec := w.BeginExec("test.input", why)
			cancel(w, w.shown())
			raw, err := w.settle(exec)
			w.requireAnswer("", raw, err)
		})
	}
}

// The initial text is an answer if the file is saved, but not if it is only closed.
func TestInputThatBeganWithATextIsClosed(t *testing.T) {
	t.Parallel()
	w := newWriter(t, showsDocuments)
	exec := w.BeginExec("test.input", lsptest.Fields{"text": "Why?", "initial": "Old"})
	path := w.shown()
	w.Open(path, w.read(path))
	w.Close(path)
	raw, err := w.settle(exec)
	w.requireAnswer("", raw, err)
}

// Editors close and reopen a document when its language changes.
func TestInputThatIsOpenedAgainIsStillAwaited(t *testing.T) {
	t.Parallel()
	w := newWriter(t, showsDocuments)
	exec := w.BeginExec("test.input", why)
	path := w.shown()
	w.Open(path, w.read(path))
	w.Close(path)
	w.Open(path, w.read(path))
	_, err := w.Exec("test.echo", nil) // behind the notifications
	require.Nil(t, err)
	w.f.clock.advance(time.Minute)
	w.prepend(path, "because\n")
	w.Save(path)
	raw, err := exec.Wait()
	w.requireAnswer("because", raw, err)
}

// Proves: E-02
func TestInputIsNoDocument(t *testing.T) {
	t.Parallel()
	w := newWriter(t, showsDocuments)
	exec := w.BeginExec("test.input", why)
	path := w.shown()
	w.Open(path, w.read(path))
	w.Change(path, 2, "half of it")
	_, err := w.Exec("test.echo", nil) // behind the notifications
	require.Nil(t, err)
	_, open := w.docs.Lookup(path)
	require.False(t, open)
	w.prepend(path, "because\n")
	w.Save(path)
	raw, err := exec.Wait()
	w.requireAnswer("because", raw, err)
}

// Proves: E-02
func TestTwoInputsAtOnce(t *testing.T) {
	t.Parallel()
	w := newWriter(t, showsDocuments)
	first := w.BeginExec("test.input", why)
	one := w.shown()
	second := w.BeginExec("test.input", why)
	two := w.shown()
	require.NotEqual(t, one, two)
	w.prepend(two, "second\n")
	w.Save(two)
	raw, err := second.Wait()
	require.Nil(t, err)
	require.Equal(t, "second", decode[inputResult](t, raw).Text)
	w.prepend(one, "first\n")
	w.Save(one)
	raw, err = first.Wait()
	w.requireAnswer("first", raw, err)
}

// While the command waits, the user sees a progress and can cancel it.
func TestInputShowsProgress(t *testing.T) {
	t.Parallel()
	w := newWriter(t, showsDocuments)
	exec := execWithToken(w.Editor, "test.input", 7)
	path := w.shown()
	begun := decode[struct {
		Token int
		Value struct {
			Kind, Title string
			Cancellable bool
		}
	}](t, w.WaitNotification("$/progress"))
	assert.Equal(t, 7, begun.Token)
	assert.Equal(t, "begin", begun.Value.Kind)
	assert.Equal(t, "Waiting for "+filepath.ToSlash(path)+" to be saved", begun.Value.Title)
	assert.True(t, begun.Value.Cancellable)
	w.Notify("window/workDoneProgress/cancel", lsptest.Fields{"token": 7})
	_, err := exec.Wait()
	require.Equal(t, "cancelled", err.Kind())
	require.Contains(t, string(w.WaitNotification("$/progress")), `"end"`)
	w.requireEmpty()
}

func TestInputEndsWithItsCommand(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(w *writer, exec *lsptest.Pending){
		"cancelled": func(_ *writer, exec *lsptest.Pending) { exec.Cancel() },
		"shutdown":  func(w *writer, _ *lsptest.Pending) { w.Notify("exit", nil) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWriter(t, showsDocuments)
			exec := w.BeginExec("test.input", why)
			w.shown()
			end(w, exec)
			_, err := exec.Wait()
			require.Equal(t, "cancelled", err.Kind())
			w.requireEmpty()
		})
	}
}

// A client that opens no documents gets the path in a question; the command waits only for the answer.
// Proves: E-02
func TestInputByQuestion(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		capabilities any
		written      string
		reply        func(lsptest.Request)
		want         inputResult
	}{
		"written":           {lsptest.Fields{}, "because\n", chosen("Continue"), inputResult{"because", true}},
		"cancelled":         {lsptest.Fields{}, "because\n", chosen("Cancel"), inputResult{"", true}},
		"closed":            {lsptest.Fields{}, "because\n", func(r lsptest.Request) { r.Reply(nil) }, inputResult{}},
		"not supported":     {lsptest.Fields{}, "", func(r lsptest.Request) { r.Fail(-32601, "no such method") }, inputResult{}},
		"documents refused": {showsDocuments, "because\n", chosen("Continue"), inputResult{"because", true}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWriter(t, tc.capabilities)
			exec := w.BeginExec("test.input", why)
			if name == "documents refused" {
				w.WaitRequest("window/showDocument").Reply(lsptest.Fields{"success": false})
			}
			r := w.WaitRequest("window/showMessageRequest")
			q := decode[struct {
				Message string
				Actions []struct{ Title string }
			}](t, r.Params)
			files, err := filepath.Glob(filepath.Join(w.dir, "*"))
			require.NoError(t, err)
			require.Len(t, files, 1)
			require.Equal(t, "Why? Write it into "+filepath.ToSlash(files[0])+" and save it, before or after you choose Continue.", q.Message)
			w.prepend(files[0], tc.written)
			tc.reply(r)
			raw, failure := exec.Wait()
			require.Nil(t, failure)
			require.Equal(t, tc.want, decode[inputResult](t, raw))
			w.requireEmpty()
		})
	}
}

// An editor that shows nothing else while a question is open lets the user write after the answer.
func TestInputAfterTheQuestion(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"because\n", ""} {
		w := newWriter(t, lsptest.Fields{})
		exec := w.BeginExec("test.input", why)
		chosen("Continue")(w.WaitRequest("window/showMessageRequest"))
		files, err := filepath.Glob(filepath.Join(w.dir, "*"))
		require.NoError(t, err)
		note := decode[struct{ Message string }](t, w.WaitNotification("window/showMessage"))
		require.Equal(t, "Why? Write it into "+filepath.ToSlash(files[0])+" and save it. To cancel, save it without a text.", note.Message)
		w.prepend(files[0], text)
		w.Save(files[0])
		raw, failure := exec.Wait()
		require.Nil(t, failure)
		require.Equal(t, inputResult{strings.TrimSpace(text), true}, decode[inputResult](t, raw))
		w.requireEmpty()
	}
}

func chosen(title string) func(lsptest.Request) {
	return func(r lsptest.Request) { r.Reply(lsptest.Fields{"title": title}) }
}

func TestInputThatIsTooLong(t *testing.T) {
	t.Parallel()
	w := newWriter(t, showsDocuments)
	exec := w.BeginExec("test.input", why)
	path := w.shown()
	require.NoError(t, os.Truncate(path, 17<<20))
	w.Save(path)
	_, err := exec.Wait()
	require.Equal(t, "invalidArgument", err.Kind())
	require.Equal(t, path+" has more than 16 MiB.", err.Message)
	w.requireEmpty()
}

// If there is no input directory, or it is not writable, each file is created in its own temporary
// directory.
func TestInputInTheTemporaryDirectory(t *testing.T) {
	t.Parallel()
	for name, dir := range map[string]func(t *testing.T) string{
		"none": func(*testing.T) string { return "" },
		"one that is a file": func(t *testing.T) string {
			path := filepath.Join(t.TempDir(), "file")
			require.NoError(t, os.WriteFile(path, nil, 0o600))
			return path
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := (&writer{t: t, dir: dir(t), f: newFixture(t)}).start(showsDocuments)
			exec := w.BeginExec("test.input", why)
			path := w.shown()
			temp, err := filepath.EvalSymlinks(os.TempDir())
			require.NoError(t, err)
			real, err := filepath.EvalSymlinks(path)
			require.NoError(t, err)
			require.Equal(t, temp, filepath.Dir(filepath.Dir(real)))
			w.prepend(path, "because\n")
			require.NoError(t, os.WriteFile(path+".swp", nil, 0o600)) // as editors leave them
			w.Save(path)
			raw, failure := exec.Wait()
			require.Nil(t, failure)
			require.Equal(t, inputResult{"because", true}, decode[inputResult](t, raw))
			require.NoDirExists(t, filepath.Dir(path))
		})
	}
}

// The next input removes the files of crashed servers, and no others.
// Proves: E-02
func TestLeftoversOfInputs(t *testing.T) {
	t.Parallel()
	w := &writer{t: t, dir: t.TempDir(), f: newFixture(t)}
	w.f.options.Alive = func(pid int) bool { return pid == 11 }
	now := w.f.clock.Now()
	for name, age := range map[string]time.Duration{
		"why-99-0123456789abcdef.md":                           2 * time.Hour,
		".why-99-0123456789abcdef.md.swp":                      2 * time.Hour,
		"why-11-0000000000000001.md":                           8 * 24 * time.Hour,
		"why-99-0000000000000002.md":                           time.Minute,   // perhaps of another machine
		"why-11-0000000000000003.md":                           2 * time.Hour, // alive
		"notes.md":                                             1000 * time.Hour,
		fmt.Sprintf("why-%d-0000000000000004.md", os.Getpid()): 1000 * time.Hour,
	} {
		path := filepath.Join(w.dir, name)
		require.NoError(t, os.WriteFile(path, nil, 0o600))
		require.NoError(t, os.Chtimes(path, now.Add(-age), now.Add(-age)))
	}
	w.start(lsptest.Fields{})
	exec := w.BeginExec("test.input", why)
	w.WaitRequest("window/showMessageRequest").Reply(nil)
	_, failure := exec.Wait()
	require.Nil(t, failure)
	left, err := filepath.Glob(filepath.Join(w.dir, "*"))
	require.NoError(t, err)
	for i := range left {
		left[i] = filepath.Base(left[i])
	}
	require.ElementsMatch(t, []string{
		"why-99-0000000000000002.md", "why-11-0000000000000003.md", "notes.md",
		fmt.Sprintf("why-%d-0000000000000004.md", os.Getpid()),
	}, left)
	require.NoFileExists(t, filepath.Join(w.dir, ".why-99-0123456789abcdef.md.swp"))
}
