package lsptest

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"
	"golang.org/x/tools/txtar"

	"github.com/xcsh-ls/xcsh-ls/lsp"
)

var update = flag.Bool("update", false, "rewrite the expected parts of test files")

// Updating reports whether the tests run with -update. A test package that imports
// this one must not define the flag again.
func Updating() bool { return *update }

// Server makes the options of the server of a conversation. The files of the
// conversation are in fs, which is in memory; their times are a minute apart, in
// the order of the archive, from the start of the year 2000.
type Server func(t testing.TB, fs afero.Fs) lsp.Options

// RunConversation plays the conversation in a txtar file; see the package comment
// for its format.
func RunConversation(t *testing.T, file string, server Server) {
	t.Helper()
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	c, err := parseConversation(data, filepath.Dir(file))
	require.NoError(t, err, file)
	problems := c.play(t, server)
	if !*update {
		for _, p := range problems {
			t.Errorf("%s: %s", file, p)
		}
		return
	}
	if out := txtar.Format(c.archive); !bytes.Equal(out, data) {
		require.NoError(t, os.WriteFile(file, out, 0o644)) //nolint:gosec // a test file in the repository
	}
}

// The names of the files of a conversation.
const (
	clientFile = "client"
	serverFile = "server"
	fsPrefix   = "fs/"
	afterFile  = "fs.after"
	afterFiles = "fs.after/"
)

// conversation is a parsed file. Playing it replaces the expectations in the archive that were not
// met by the actual messages and files.
type conversation struct {
	archive *txtar.Archive
	turns   []turn
	values  values
}

// turn is a section of the client and the section of the server that follows it.
type turn struct {
	send   []Message
	raw    []string // the same as text
	server int      // index of the server's file in the archive; -1 if there is none
	stream bool     // the section contains the streamed events
}

func parseConversation(data []byte, dir string) (*conversation, error) {
	c := &conversation{archive: txtar.Parse(data), values: values{dir}}
	for i, f := range c.archive.Files {
		switch {
		case f.Name == clientFile:
			t := turn{server: -1}
			for _, line := range messageLines(f.Data) {
				var m Message
				if err := json.Unmarshal([]byte(line), &m); err != nil {
					return nil, fmt.Errorf("client section: %w in %s", err, line)
				}
				m.JSONRPC = "2.0"
				t.send, t.raw = append(t.send, m), append(t.raw, withVersion(line))
			}
			c.turns = append(c.turns, t)
		case f.Name == serverFile:
			if len(c.turns) == 0 || c.turns[len(c.turns)-1].server >= 0 {
				c.turns = append(c.turns, turn{server: -1})
			}
			for _, line := range messageLines(f.Data) {
				if strings.Contains(line, `"<any>"`) {
					return nil, fmt.Errorf("server section: write the value instead of <any> in %s", line)
				}
			}
			last := &c.turns[len(c.turns)-1]
			last.server, last.stream = i, hasLine(f.Data, streamDirective)
		case f.Name == afterFile, strings.HasPrefix(f.Name, fsPrefix), strings.HasPrefix(f.Name, afterFiles):
		default:
			return nil, fmt.Errorf("a conversation has no file %q", f.Name)
		}
	}
	return c, nil
}

// withVersion adds "jsonrpc" to a message without it. The rest of the line is unchanged: unusual
// spellings may be the point of the test.
func withVersion(line string) string {
	if strings.Contains(line, `"jsonrpc"`) {
		return line
	}
	rest := strings.TrimSpace(strings.TrimPrefix(line, "{"))
	if rest == "}" {
		return `{"jsonrpc":"2.0"}`
	}
	return `{"jsonrpc":"2.0",` + rest
}

// hasLine reports whether a section has a line.
func hasLine(data []byte, want string) bool {
	for line := range strings.Lines(string(data)) {
		if strings.TrimSpace(line) == want {
			return true
		}
	}
	return false
}

// messageLines returns the lines of a section that hold messages.
func messageLines(data []byte) []string {
	var lines []string
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "#") {
			lines = append(lines, line)
		}
	}
	return lines
}

// play runs the conversation and returns the differences from the expectations.
func (c *conversation) play(t testing.TB, server Server) (problems []string) {
	t.Helper()
	fs := afero.NewMemMapFs()
	c.writeFiles(t, fs)
	ed := Start(t, server(t, fs))
	from := 0
	var events sequence
	open := map[string]bool{}     // requests of the client without an answer
	answered := map[string]bool{} // requests of the server that were answered
	for i, turn := range c.turns {
		for j, m := range turn.send {
			switch {
			case m.isRequest():
				open[string(m.ID)] = true
			case m.Method == "":
				answered[string(m.ID)] = true
			}
			ed.Send(turn.raw[j])
		}
		ed.waitTurn(open, answered)
		if i == len(c.turns)-1 {
			ed.CloseInput()
			ed.Wait()
		}
		got := ed.messagesFrom(&from)
		for _, m := range got {
			problems = append(problems, events.check(i, m)...)
		}
		problems = append(problems, c.compareTurn(i, turn.lines(got))...)
	}
	ed.takeAll()
	return append(problems, c.compareFiles(t, fs)...)
}

func (c *conversation) writeFiles(t testing.TB, fs afero.Fs) {
	t.Helper()
	at := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, f := range c.archive.Files {
		if name, ok := strings.CutPrefix(f.Name, fsPrefix); ok {
			require.NoError(t, afero.WriteFile(fs, "/"+name, f.Data, 0o600))
			at = at.Add(time.Minute)
			require.NoError(t, fs.Chtimes("/"+name, at, at))
		}
	}
}
