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

	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// The environment of a child: its role, its file and its name, which is also the prefix of its
// entry ids.
const (
	envPart = "XCSH_SOAK_PART"
	envFile = "XCSH_SOAK_FILE"
	envName = "XCSH_SOAK_NAME"
)

func TestMain(m *testing.M) {
	parts := map[string]func(path, name string) error{"append": appendForever, "compete": compete, "terminal": terminal, "index": useIndex, "push": push}
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

// acknowledge reports to the parent, in one write, that a line survives the end of this process.
func acknowledge(id string) { _, _ = os.Stdout.WriteString(id + "\n") }

// appendForever appends entries until it is killed and acknowledges each of them.
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

// compete appends until its standard input ends. The last entry makes it read the file once more
// after the last rewrite.
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

// finish appends the last entry and prints the state of the session in memory.
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

// viewMark begins the line in which a competitor prints the number of entries and problems that it
// knows.
const viewMark = "view:"

// terminal does the same as the terminal programs: it keeps the file's lines in memory, appends
// lines without reading the file, and now and then rewrites the whole file from memory, without the
// lines that other processes have written since.
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
		if i%40 == 20 { // the user restarted it
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
