//go:build unix

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/term"

	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
)

// Keys as a terminal sends them.
const (
	keyUp    = "\x1b[A"
	keyDown  = "\x1b[B"
	keyEnter = "\r"
	keyEsc   = "\x1b"
	keyCtrlC = "\x03"
	keyBack  = "\x7f"
)

// onTerminal is a run of the program on a pseudo-terminal.
type onTerminal struct {
	*exec.Cmd
	t      *testing.T
	user   *os.File // the user's side of the terminal
	device *os.File
	cooked *term.State // of the device before the program ran
	said   bytes.Buffer
	stdout bytes.Buffer // if it isn't the terminal
}

// terminal starts the program on a terminal of the given size; change can redirect its files.
func (m *machine) terminal(size pty.Winsize, change func(*onTerminal), args ...string) *onTerminal {
	m.t.Helper()
	user, device, err := pty.Open()
	require.NoError(m.t, err)
	m.t.Cleanup(func() { _, _ = user.Close(), device.Close() })
	require.NoError(m.t, pty.Setsize(user, &size))
	user = withDeadlines(m.t, user)
	r := &onTerminal{Cmd: m.command(args...), t: m.t, user: user, device: device}
	r.Env = append(r.Env, "TERM=xterm-256color", "NO_COLOR=")
	r.Stdin, r.Stdout, r.Stderr = device, device, device
	r.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if change != nil {
		change(r)
	}
	r.cooked, err = term.GetState(int(device.Fd()))
	require.NoError(m.t, err)
	require.NoError(m.t, r.Start())
	return r
}

// withDeadlines returns a file for the same terminal whose reads end at their deadline. Those of file do not, because
// opening a terminal makes it a blocking one.
func withDeadlines(t *testing.T, file *os.File) *os.File {
	t.Helper()
	fd, err := syscall.Dup(int(file.Fd()))
	require.NoError(t, err)
	syscall.CloseOnExec(fd)
	require.NoError(t, syscall.SetNonblock(fd, true))
	again := os.NewFile(uintptr(fd), file.Name())
	t.Cleanup(func() { _ = again.Close() })
	require.NoError(t, again.SetReadDeadline(time.Now().Add(time.Hour)), "deadlines are possible")
	return again
}

// await reads what the program writes until that contains text.
func (r *onTerminal) await(text string) {
	r.t.Helper()
	for piece := make([]byte, 4096); !strings.Contains(r.said.String(), text); {
		require.NoError(r.t, r.user.SetReadDeadline(time.Now().Add(time.Minute))) // it hangs otherwise
		n, err := r.user.Read(piece)
		r.said.Write(piece[:n])
		require.NoError(r.t, err, "waiting for %q; so far: %q", text, r.said.String())
	}
}

func (r *onTerminal) press(keys ...string) {
	r.t.Helper()
	_, err := r.user.WriteString(strings.Join(keys, ""))
	require.NoError(r.t, err)
}

// end waits until the program exits and returns its exit code and everything it wrote to the terminal, which
// must be as it was.
func (r *onTerminal) end() (code int, said string) {
	r.t.Helper()
	exited := make(chan struct{})
	go func() {
		defer close(exited)
		_ = r.Wait() // the exit code is the result
		// The reader below ends with this line.
		_, _ = r.device.WriteString("\nEND-OF-TEST\n")
	}()
	r.await("END-OF-TEST")
	<-exited
	state, err := term.GetState(int(r.device.Fd()))
	require.NoError(r.t, err)
	assert.Equal(r.t, r.cooked, state, "the terminal is restored")
	said, _, _ = strings.Cut(r.said.String(), "\r\nEND-OF-TEST")
	assert.Equal(r.t, strings.Count(said, "\x1b[?1049h"), strings.Count(said, "\x1b[?1049l"), "the screen is given back")
	return r.ProcessState.ExitCode(), said
}

// afterScreen returns what was written after the list disappeared.
func afterScreen(said string) string {
	_, after, _ := strings.Cut(said, "\x1b[?1049l")
	return strings.ReplaceAll(strings.TrimPrefix(after, "\x1b[?2004l"), "\r\n", "\n")
}

var usual = pty.Winsize{Rows: 24, Cols: 100}

// grown returns the indexes of the files that are not as in before.
func (m *machine) grown(paths, before []string) (changed []int) {
	m.t.Helper()
	for i, path := range paths {
		now := m.read(path)
		require.True(m.t, strings.HasPrefix(now, before[i]), "nothing is removed from %s", path)
		if now != before[i] {
			changed = append(changed, i)
		}
	}
	return changed
}

func (m *machine) contents(paths []string) (texts []string) {
	m.t.Helper()
	for _, path := range paths {
		texts = append(texts, m.read(path))
	}
	return texts
}

// The picker of --resume without a value: the chosen session continues, and no other file changes.
// Proves: X-182, O-048
func TestResumePickerChooses(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		keys []string
		want int
	}{
		"the newest":         {[]string{keyEnter}, 0},
		"arrows":             {[]string{keyDown, keyDown, keyUp, keyDown, keyEnter}, 2},
		"beyond the end":     {[]string{keyDown, keyDown, keyDown, keyDown, keyDown, keyDown, keyEnter}, 3},
		"search":             {[]string{"CHANGE log", keyEnter}, 2},
		"search, corrected":  {[]string{"changx", keyBack, "elog", keyEnter}, 2},
		"search, then down":  {[]string{"test", keyDown, keyEnter}, 3},
		"search for an ID":   {[]string{"0190000000000001", keyEnter}, 1},
		"search for a time":  {[]string{"3h ago", keyEnter}, 2},
		"pasted":             {[]string{"\x1b[200~release\n\x1b[201~", keyEnter}, 2},
		"Enter on no match":  {[]string{"zzz", keyEnter, keyBack, keyBack, keyBack, keyDown, keyEnter}, 1},
		"Page Down and Home": {[]string{"\x1b[6~", "\x1b[H", keyDown, keyEnter}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newMachine(t, formats[0])
			m.Script("m", providertest.Reply{Text: "Done."})
			paths := m.saved("fix the flaky test", "update the documents", "write a changelog for the release", "why does TestParse fail?")
			before := m.contents(paths)
			r := m.terminal(usual, nil, "run", "go on", "--model", "fake/m", "--resume")
			r.await("TestParse fail?") // the last row
			r.press(tc.keys...)
			code, said := r.end()
			require.Zero(t, code, said)
			require.Contains(t, afterScreen(said), "Done.")
			require.Equal(t, []int{tc.want}, m.grown(paths, before))
			require.Len(t, m.Requests(), 1)
			require.Contains(t, string(m.Requests()[0].Body), []string{"flaky", "documents", "changelog", "TestParse"}[tc.want])
			files, err := filepath.Glob(filepath.Join(filepath.Dir(paths[0]), "*.jsonl"))
			require.NoError(t, err)
			require.Len(t, files, len(paths), "no session is created")
		})
	}
}

// Proves: X-181, O-068
func TestResumePickerIsCancelled(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		cancel func(r *onTerminal)
		code   int
	}{
		"Esc":     {func(r *onTerminal) { r.press(keyEsc) }, 1},
		"Ctrl-C":  {func(r *onTerminal) { r.press(keyCtrlC) }, 130},
		"SIGINT":  {func(r *onTerminal) { require.NoError(r.t, r.Process.Signal(os.Interrupt)) }, 130},
		"SIGTERM": {func(r *onTerminal) { require.NoError(r.t, r.Process.Signal(syscall.SIGTERM)) }, 143},
	} {
		for _, args := range [][]string{{"run", "hello", "--model", "fake/m", "--resume"}, {"--resume"}} {
			t.Run(name+" "+args[0], func(t *testing.T) {
				t.Parallel()
				m := newMachine(t, formats[0])
				paths := m.saved("one", "two")
				before := m.contents(paths)
				r := m.terminal(usual, nil, args...)
				r.await("two")
				tc.cancel(r)
				code, said := r.end()
				require.Equal(t, tc.code, code)
				require.Equal(t, "No session selected\n", afterScreen(said))
				require.Empty(t, m.grown(paths, before))
				require.Empty(t, m.Requests())
			})
		}
	}
}

// Proves
func TestResumePickerHasNothingToShow(t *testing.T) {
	t.Parallel()
	m := newMachine(t, formats[0])
	for _, args := range [][]string{{"run", "hello", "--model", "fake/m", "--resume"}, {"--resume"}} {
		code, said := m.terminal(usual, nil, args...).end()
		require.Equal(t, 1, code)
		require.Equal(t, "No sessions found", strings.TrimSpace(said))
	}
	require.Empty(t, m.Requests())
}

// color is a sequence that sets a color.
var color = regexp.MustCompile(`\x1b\[[0-9;]*\b(3[0-8]|4[0-8]|9[0-7])[;0-9]*m`)

// The prompts of sessions can come from anywhere: none controls the terminal, and each can be chosen.
func TestResumePickerShowsHostileNames(t *testing.T) {
	t.Parallel()
	hostile := []string{
		"\x1b]0;owned\x07 title", "\x1b[2J\x1b[31mred\u009b31m", "txt.\u202egnp.exe\u2066\u200b", strings.Repeat("长👩‍👩‍👧e\u0301", 20_000),
		"\x1bPq\x1b\\\x1b]52;c;b3duZWQ=\x07 clipboard", "\r\n\t\b\b\b back",
	}
	m := newMachine(t, formats[0])
	paths := m.saved(hostile...)
	for i, size := range []pty.Winsize{usual, {Rows: 24, Cols: 30}, {Rows: 1, Cols: 5}, {Rows: 3, Cols: 1}, {Rows: 200, Cols: 400}} {
		m.Script("m", providertest.Reply{Text: "Done."})
		before := m.contents(paths)
		r := m.terminal(size, func(r *onTerminal) { r.Env = append(r.Env, "NO_COLOR=1") }, "run", "go on", "--model", "fake/m", "--resume")
		r.await("\x1b[?1049h")
		if i == 0 {
			r.await(" back") // the last row
		} // otherwise, Enter waits for the row
		r.press("clipboard", keyEnter)
		r.await("Done.")
		code, said := r.end()
		require.Zero(t, code, said)
		require.Equal(t, []int{4}, m.grown(paths, before), "size %v", size)
		at := time.Now().Add(-5 * time.Hour)
		require.NoError(t, os.Chtimes(paths[4], at, at))
		for _, sequence := range []string{"\x1b]", "\x1bP", "\u009b", "\u202e", "\u2066", "\u200b", "\x1b[31m", "\b back"} {
			require.NotContains(t, said, sequence, "size %v", size)
		}
		require.NotRegexp(t, color, said, "NO_COLOR is respected")
		if i == 0 {
			require.Contains(t, said, `\u001b]0;owned\u0007 title`)
		}
	}
}

// Where the user can't be asked, the error says how to name the session.
func TestResumeWithoutATerminal(t *testing.T) {
	t.Parallel()
	m := newMachine(t, formats[0])
	paths := m.saved("one")
	before := m.contents(paths)
	const want = "--resume without a value needs a terminal to choose a session on. Pass --resume ID; 'xcsh-ls list' prints the sessions with their IDs."
	file, err := os.Create(m.path("out"))
	require.NoError(t, err)
	defer file.Close()
	for name, change := range map[string]func(*onTerminal){
		"standard input is a pipe":    func(r *onTerminal) { r.Stdin, r.SysProcAttr = strings.NewReader("text\n"), nil },
		"standard input is /dev/null": func(r *onTerminal) { r.Stdin, r.SysProcAttr = nil, nil },
		"a dumb terminal":             func(r *onTerminal) { r.Env = append(r.Env, "TERM=dumb") },
		"outputs are files":           func(r *onTerminal) { r.Stdout, r.Stderr = file, file },
	} {
		r := m.terminal(usual, change, "run", "hello", "--model", "fake/m", "--resume")
		code, said := r.end()
		require.Equal(t, 2, code, name)
		if name == "outputs are files" {
			said = m.read(m.path("out"))
		}
		require.Equal(t, want, strings.TrimSpace(said), name)
	}
	require.Empty(t, m.Requests())
	require.Empty(t, m.grown(paths, before))
}

// The list is drawn on the terminal even if an output is redirected, and the output has only the result.
func TestResumePickerLeavesStandardOutputAlone(t *testing.T) {
	t.Parallel()
	m := newMachine(t, formats[0])
	m.Script("m", providertest.Reply{Text: "Done."})
	paths := m.saved("one", "two")
	redirect := func(r *onTerminal) { r.Stdout = &r.stdout }
	r := m.terminal(usual, redirect, "run", "hello", "--model", "fake/m", "--resume")
	r.await("two")
	r.press(keyDown, keyEnter)
	code, said := r.end()
	require.Zero(t, code, said)
	require.Equal(t, "Done.\n", r.stdout.String())

	// Without a command, no editor is connected: the result is the path.
	r = m.terminal(usual, redirect, "--resume")
	r.await("two")
	r.press("one", keyEnter)
	code, said = r.end()
	require.Zero(t, code, said)
	require.Equal(t, paths[0]+"\n", r.stdout.String())
	require.Equal(t, "No editor is connected. To continue the session here, run 'xcsh-ls run --resume 0190000000000000 PROMPT'.\n", afterScreen(said))
	require.Len(t, m.Requests(), 1)
}

// A shell completes the IDs of sessions, with names that can't control the terminal.
func TestShellsCompleteSessions(t *testing.T) {
	t.Parallel()
	m := newMachine(t, formats[0])
	m.saved("one", "two \x1b[31m\tred\u202e")
	for _, args := range [][]string{{"run", "--resume", ""}, {"run", "--fork", "0190"}, {"--resume", ""}} {
		code, stdout, stderr := m.run(append([]string{"__complete"}, args...)...)
		require.Zero(t, code, stderr)
		require.Equal(t, "0190000000000000\tone, 1h ago\n0190000000000001\ttwo [31mred, 2h ago\n:36\n", stdout)
	}
	_, stdout, _ := m.run("__complete", "run", "--resume", "0190000000000001")
	require.True(t, strings.HasPrefix(stdout, "0190000000000001\t"))
	_, stdout, _ = m.run("__complete", "run", "--resume", "./")
	require.Equal(t, ":0\n", stdout, "files")
}

// On a terminal no editor is connected, so the program says how it is used instead of waiting. Editors name the transport.
func TestAServerOnATerminal(t *testing.T) {
	t.Parallel()
	m := newMachine(t, formats[0])
	r := m.terminal(usual, func(*onTerminal) {})
	code, said := r.end()
	require.Zero(t, code, said)
	require.Contains(t, said, "which editors")
	require.Contains(t, said, "xcsh-ls list")

	code, stdout, _ := m.run() // with an empty input that is no terminal, as an editor that ends at once
	require.NotContains(t, stdout, "Usage")
	require.NotZero(t, code)
}
