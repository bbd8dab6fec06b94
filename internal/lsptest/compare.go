package lsptest

import (
	"bytes"
	"encoding/json"
	"fmt"
	iofs "io/fs"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"
)

// anyValue matches any one JSON value in the expected messages.
const anyValue = "<any>"

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
	for _, m := range messages {
		if t.stream || !m.isStreamed() {
			lines = append(lines, strings.Replace(string(m.raw), `{"jsonrpc":"2.0",`, `{`, 1))
		}
	}
	return lines
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
		if j < len(want) && matches(want[j], line) {
			kept[j] = want[j]
			continue
		}
		expected := "nothing"
		if j < len(want) {
			expected = want[j]
		}
		problems = append(problems, fmt.Sprintf("turn %d, message %d:\n\twant %s\n\tgot  %s", i+1, j+1, expected, line))
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

// matches reports whether two messages are equal except for the order of fields, "jsonrpc" and
// "<any>" in want.
func matches(want, got string) bool {
	w, errW := decodeAny(want)
	g, errG := decodeAny(got)
	if errW != nil || errG != nil {
		return want == got
	}
	if m, ok := w.(map[string]any); ok {
		delete(m, "jsonrpc")
	}
	return equal(w, g)
}

func decodeAny(s string) (v any, err error) {
	dec := json.NewDecoder(strings.NewReader(s))
	dec.UseNumber()
	err = dec.Decode(&v)
	return v, err
}

func equal(want, got any) bool {
	if want == anyValue {
		return true
	}
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok || len(w) != len(g) {
			return false
		}
		for k, v := range w {
			if gv, ok := g[k]; !ok || !equal(v, gv) {
				return false
			}
		}
		return true
	case []any:
		g, ok := got.([]any)
		if !ok || len(w) != len(g) {
			return false
		}
		for i := range w {
			if !equal(w[i], g[i]) {
				return false
			}
		}
		return true
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
