package lsptest

import (
	"bytes"
	"encoding/json"
	"fmt"
	iofs "io/fs"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"
)

// waitTurn waits until every request of the client has been answered or the server
// waits for an answer itself.
func (ed *Editor) waitTurn(open, answered map[string]bool) {
	ed.t.Helper()
	timeout := time.NewTimer(stepTimeout)
	defer timeout.Stop()
	for {
		ed.mu.Lock()
		waiting := false
		for _, m := range ed.messages {
			switch {
			case m.Method == "":
				delete(open, string(m.ID))
			case m.isRequest() && !answered[string(m.ID)]:
				waiting = true
			}
		}
		changed, gone := ed.changed, ed.readErr != nil
		ed.mu.Unlock()
		if len(open) == 0 || waiting || gone {
			return
		}
		select {
		case <-changed:
		case <-timeout.C:
			require.FailNow(ed.t, "the server neither answers nor asks", ed.transcript())
		}
	}
}

// messagesFrom returns the messages from an index on and advances it.
func (ed *Editor) messagesFrom(from *int) []*Message {
	messages := ed.Messages()[*from:]
	*from += len(messages)
	return messages
}

// lines returns the messages to compare, one per line.
func (t turn) lines(messages []*Message) (lines []string) {
	for _, m := range byFolder(messages) {
		if t.stream || !m.isStreamed() {
			lines = append(lines, strings.Replace(string(m.raw), `{"jsonrpc":"2.0",`, `{`, 1))
		}
	}
	return lines
}

// byFolder sorts notifications in a row by their folders. Folders work side by side, so only the order
// within a folder is promised.
func byFolder(messages []*Message) []*Message {
	messages = slices.Clone(messages)
	for start := 0; start < len(messages); {
		end := start
		for end < len(messages) && messages[end].folder() != "" {
			end++
		}
		slices.SortStableFunc(messages[start:end], func(a, b *Message) int { return strings.Compare(a.folder(), b.folder()) })
		start = max(end, start+1)
	}
	return messages
}

// folder returns the folder that a notification is about; "" for another message.
func (m *Message) folder() string {
	if m.Method == "" || m.isRequest() {
		return ""
	}
	var params struct {
		Cwd string `json:"cwd"`
	}
	if json.Unmarshal(m.Params, &params) != nil {
		return ""
	}
	return params.Cwd
}

// takeAll marks every request of the server as awaited.
func (ed *Editor) takeAll() {
	ed.mu.Lock()
	defer ed.mu.Unlock()
	for _, m := range ed.messages {
		ed.taken[m] = true
	}
}

// compareTurn compares the messages of the server in a turn and puts them into the archive.
func (c *conversation) compareTurn(i int, got []string) (problems []string) {
	at := c.turns[i].server
	var want []string
	if at >= 0 {
		want = messageLines(c.archive.Files[at].Data)
	}
	kept := make([]string, len(got))
	for j, line := range got {
		kept[j] = line
		if j < len(want) && c.values.matches(want[j], line) {
			kept[j] = want[j]
			continue
		}
		expected := "nothing"
		if j < len(want) {
			expected = want[j]
		}
		problems = append(problems, fmt.Sprintf("turn %d, message %d:%s\n\twant %s\n\tgot  %s",
			i+1, j+1, c.values.difference(expected, line), brief(expected), brief(line)))
	}
	for j := len(got); j < len(want); j++ {
		problems = append(problems, fmt.Sprintf("turn %d, message %d:\n\twant %s\n\tgot  nothing", i+1, j+1, want[j]))
	}
	if at >= 0 && len(problems) > 0 {
		if c.turns[i].stream {
			kept = append([]string{streamDirective}, kept...)
		}
		c.archive.Files[at].Data = []byte(strings.Join(kept, "\n") + "\n")
	}
	return problems
}

// matches reports whether two messages are equal except for the order of fields, "jsonrpc",
// placeholders and named values in want.
func (v values) matches(want, got string) bool {
	w, errW := decodeAny(want)
	g, errG := decodeAny(got)
	if errW != nil || errG != nil {
		return want == got
	}
	if m, ok := w.(map[string]any); ok {
		delete(m, "jsonrpc")
	}
	return v.equal(w, g)
}

func decodeAny(s string) (v any, err error) {
	dec := json.NewDecoder(strings.NewReader(s))
	dec.UseNumber()
	err = dec.Decode(&v)
	return v, err
}

func (v values) equal(want, got any) bool {
	if name, ok := named(want); ok {
		return v.match(name, got)
	}
	switch w := want.(type) {
	case string:
		if _, isNumber := got.(json.Number); isNumber {
			return w == number
		}
		g, ok := got.(string)
		return ok && matchString(w, g)
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok || len(w) != len(g) {
			return false
		}
		for k, field := range w {
			if gv, ok := g[k]; !ok || !v.equal(field, gv) {
				return false
			}
		}
		return true
	case []any:
		g, ok := got.([]any)
		return ok && slices.EqualFunc(w, g, v.equal)
	}
	return reflect.DeepEqual(want, got)
}

// compareFiles compares the files at the end with those in the archive.
func (c *conversation) compareFiles(t testing.TB, fs afero.Fs) (problems []string) {
	t.Helper()
	for i, f := range c.archive.Files {
		var got []byte
		if f.Name == afterFile {
			got = listFiles(t, fs)
		} else if name, ok := strings.CutPrefix(f.Name, afterFiles); ok {
			data, err := afero.ReadFile(fs, "/"+name)
			if err != nil {
				problems = append(problems, fmt.Sprintf("%s: %v", f.Name, err))
				continue
			}
			if got = data; len(got) > 0 && !bytes.HasSuffix(got, []byte("\n")) {
				got = append(got, '\n') // a file of an archive always ends with one
			}
		} else {
			continue
		}
		if !bytes.Equal(f.Data, got) {
			problems = append(problems, fmt.Sprintf("%s:\nwant:\n%sgot:\n%s", f.Name, f.Data, got))
			c.archive.Files[i].Data = got
		}
	}
	return problems
}

func listFiles(t testing.TB, fs afero.Fs) []byte {
	t.Helper()
	var b bytes.Buffer
	err := afero.Walk(fs, "/", func(path string, info iofs.FileInfo, err error) error {
		if err == nil && !info.IsDir() {
			fmt.Fprintln(&b, filepath.ToSlash(path))
		}
		return err
	})
	require.NoError(t, err)
	return b.Bytes()
}
