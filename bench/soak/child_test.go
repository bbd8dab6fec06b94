package soak

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/session"
	st "github.com/xcsh-ls/xcsh-ls/session/sessiontest"
)

// The environment of a child: which part it plays, its file and its name, which is
// also what its entry ids begin with.
const (
	envPart = "XCSH_SOAK_PART"
	envFile = "XCSH_SOAK_FILE"
	envName = "XCSH_SOAK_NAME"
)

func TestMain(m *testing.M) {
	parts := map[string]func(path, name string) error{"append": appendForever, "compete": compete, "terminal": terminal}
	part, ok := parts[os.Getenv(envPart)]
	if !ok {
		os.Exit(m.Run())
	}
	if err := part(os.Getenv(envFile), os.Getenv(envName)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func newStore() *session.Store { return session.NewStore(session.StoreConfig{Fs: afero.NewOsFs()}) }

// acknowledge tells the parent, in one write, that a line is safe from the end of this
// process.
func acknowledge(id string) { _, _ = os.Stdout.WriteString(id + "\n") }

// appendForever appends until it is killed and acknowledges what was appended.
func appendForever(path, _ string) error {
	log, err := newStore().Open(path)
	if err != nil {
		return err
	}
	for i := 1; ; i++ {
		text := strings.Repeat("word ", i*37%2000)
		id, err := log.Append(session.DraftMessage(json.RawMessage(st.AssistantMessage(text))))
		if err != nil {
			return err
		}
		acknowledge(id)
		if i%10 == 0 {
			if err := log.Flush(); err != nil {
				return err
			}
		}
	}
}

// compete appends until its standard input ends. The last entry makes it look at the
// file once more when nobody rewrites it any longer.
func compete(path, name string) error {
	log, err := newStore().Open(path)
	if err != nil {
		return err
	}
	over := make(chan struct{})
	go func() {
		_, _ = bufio.NewReader(os.Stdin).ReadByte() // its end is the message
		close(over)
	}()
	r := rand.New(rand.NewPCG(1, uint64(len(name))+uint64(name[len(name)-1])))
	for i := 0; ; i++ {
		id, err := log.Append(session.DraftMessage(json.RawMessage(st.UserMessage(fmt.Sprintf("%s %d", name, i)))))
		if err != nil {
			return err
		}
		acknowledge(id)
		select {
		case <-over:
			return finish(log, name)
		case <-time.After(time.Duration(r.IntN(3000)) * time.Microsecond):
		}
	}
}

// finish appends the last entry and says what the session looks like in memory.
func finish(log *session.Log, name string) error {
	id, err := log.Append(session.DraftMessage(json.RawMessage(st.UserMessage(name + " ends"))))
	if err != nil {
		return err
	}
	acknowledge(id)
	err = log.View(func(d *session.Document, _ session.Leaf) error {
		fmt.Printf("%s %d %d\n", viewMark, d.Len(), len(d.Problems()))
		return nil
	})
	return errors.Join(err, log.Close())
}

// viewMark begins the line in which a competitor says how many entries and problems
// it knows.
const viewMark = "view:"

// terminal does what the terminal programs do: it keeps the file's lines in memory,
// appends lines without looking, and now and then writes the whole file anew from what
// it remembers, which is not what others wrote since.
func terminal(path, name string) error {
	r := rand.New(rand.NewPCG(2, 0))
	lines, err := readLines(path)
	if err != nil {
		return err
	}
	for i := range 120 {
		id := fmt.Sprintf("%s%06x", name, i)
		line := st.Assistant(id, lastID(lines), "from the terminal")
		lines = append(lines, line)
		if i%15 == 14 {
			// The old file keeps its inode, see TestReplacedTwice.
			err = errors.Join(os.Link(path, fmt.Sprintf("%s.%d", path, i)), rewrite(path, lines))
		} else {
			err = appendLine(path, line)
		}
		if err != nil {
			return err
		}
		acknowledge(id)
		if i%40 == 20 { // the person restarted it
			if lines, err = readLines(path); err != nil {
				return err
			}
		}
		<-time.After(time.Duration(r.IntN(4000)) * time.Microsecond)
	}
	return nil
}

func readLines(path string) ([]string, error) {
	content, err := os.ReadFile(path)
	return strings.Split(strings.TrimSuffix(string(content), "\n"), "\n"), err
}

func lastID(lines []string) string {
	var e struct{ ID string }
	_ = json.Unmarshal([]byte(lines[len(lines)-1]), &e) // a line of the session
	return e.ID
}

func appendLine(path, line string) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(line + "\n")
	return errors.Join(err, f.Close())
}

func rewrite(path string, lines []string) error {
	temp := filepath.Join(filepath.Dir(path), ".terminal.tmp")
	if err := os.WriteFile(temp, []byte(st.File(lines...)), 0o600); err != nil {
		return err
	}
	return os.Rename(temp, path)
}
