package soak

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/racetest"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// rounds returns the number of repetitions of a test: n, or more with XCSH_SOAK set.
func rounds(n, more int) int {
	if os.Getenv("XCSH_SOAK") != "" {
		return more
	}
	return n
}

// newSession files a session that has an answer in it.
func newSession(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "2026-01-01T00-00-00-000Z_0190000000000001.jsonl")
	content := st.File(st.Header("0190000000000001", "/w"), st.User("a0", "", "one"), st.Assistant("b0", "a0", "two"))
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	return path
}

// child is this test binary in another role.
type child struct {
	*exec.Cmd
	acks  *bufio.Scanner
	stdin io.Closer
	said  strings.Builder // to standard error
}

func start(t *testing.T, part, path, name string) *child {
	t.Helper()
	c := &child{Cmd: exec.CommandContext(t.Context(), os.Args[0])}
	c.Env = append(os.Environ(), envPart+"="+part, envFile+"="+path, envName+"="+name)
	c.Stderr = &c.said
	stdin, err := c.StdinPipe()
	require.NoError(t, err)
	stdout, err := c.StdoutPipe()
	require.NoError(t, err)
	c.stdin, c.acks = stdin, bufio.NewScanner(stdout)
	require.NoError(t, c.Start())
	return c
}

// TestKilledWriter kills a writer at any moment. Acknowledged entries are in the file: Append
// returns after write(2), and data given to the kernel survives the process (not the machine; that
// is the purpose of Flush). At most the last line is torn, and the next append works.
// Proves: AB-002
func TestKilledWriter(t *testing.T) {
	t.Parallel()
	racetest.Large(t)
	seed := uint64(1)
	if os.Getenv("XCSH_SOAK") != "" {
		seed = uint64(time.Now().UnixNano())
	}
	t.Log("seed", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	path := newSession(t)
	var acked []string
	for round := range rounds(30, 500) {
		acked = append(acked, killed(t, r, path)...)
		doc, err := newStore().Load(path)
		require.NoError(t, err, "round %d", round)
		requireAll(t, doc, acked)
		requireWhole(t, doc, countLines(t, path))
		require.NoError(t, doc.Close())

		log, err := newStore().Open(path)
		require.NoError(t, err)
		id, err := log.Append(session.DraftMessage(json.RawMessage(st.UserMessage("after the crash"))))
		require.NoError(t, err)
		require.NoError(t, log.Close())
		acked = append(acked, id)
		if round%10 == 9 { // a session of its own from time to time, so that none gets huge
			path, acked = newSession(t), nil
		}
	}
}

// killed starts a writer, kills it and returns the entries that it had acknowledged.
func killed(t *testing.T, r *rand.Rand, path string) (acked []string) {
	t.Helper()
	c := start(t, "append", path, "")
	take := r.IntN(120)
	for len(acked) <= take && c.acks.Scan() {
		acked = append(acked, c.acks.Text())
	}
	// Any moment between two appends, or in one.
	<-time.After(time.Duration(r.IntN(2000)) * time.Microsecond)
	require.NoError(t, c.Process.Kill())
	for c.acks.Scan() {
		acked = append(acked, c.acks.Text())
	}
	err := c.Wait()
	require.Error(t, err, "the writer was killed")
	require.Empty(t, c.said.String())
	require.Greater(t, len(acked), take)
	return acked
}

func countLines(t *testing.T, path string) int {
	t.Helper()
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	n := strings.Count(string(content), "\n")
	if !strings.HasSuffix(string(content), "\n") {
		n++
	}
	return n
}

func requireAll(t *testing.T, doc *session.Document, ids []string) {
	t.Helper()
	for _, id := range ids {
		_, err := doc.Index(id)
		require.NoError(t, err, "an acknowledged entry is missing")
	}
}

// requireWhole requires that the only problem is, at most, half a last line of each killed writer.
func requireWhole(t *testing.T, doc *session.Document, lines int) {
	t.Helper()
	for _, p := range doc.Problems() {
		if p.Kind == session.ProblemKind("tornTail") {
			require.Equal(t, lines, p.Line)
			continue
		}
		// An earlier torn line, which the next append ended, is a malformed one.
		require.Equal(t, session.ProblemKind("malformedLine"), p.Kind, p.Message)
	}
	requireTree(t, doc)
}

// requireTree requires that every entry has its parent and that there are no cycles.
func requireTree(t *testing.T, doc *session.Document) {
	t.Helper()
	problems, err := doc.Check(session.AtLast(), nil)
	require.NoError(t, err)
	for _, p := range problems {
		require.NotContains(t, []session.ProblemKind{session.OrphanEntry, session.ParentCycle}, p.Kind, p.Message)
	}
}

// TestCompetingWriters lets two of ours and a terminal program that rewrites the file from stale
// memory write to one session.
//
// Invariants: no line is lost in the end, ours or theirs, because a writer that finds the file
// changed writes its own missing lines again; lines are never torn or run together; every entry has
// its parent.
// Proves: F-03
func TestCompetingWriters(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("a file that is open cannot be replaced there")
	}
	for round := range rounds(2, 40) {
		path := newSession(t)
		ours := []*child{start(t, "compete", path, "one"), start(t, "compete", path, "two")}
		theirs := start(t, "terminal", path, "ff")
		acked := drain(t, theirs)
		// One after the other: the second sees the entries that the first has restored.
		for _, c := range ours {
			require.NoError(t, c.stdin.Close())
			acked = append(acked, drain(t, c)...)
		}
		ids := requireCompeted(t, path, acked)
		t.Logf("round %d: %d entries; %s", round, ids, strings.Join(views(acked), ", "))
	}
}

// TestTwoServers lets two of ours append to one session. The invariant: the file is whole. Their
// state in memory is only logged: between checking the file's size and the write the other's line
// may come in, and is then not always noticed.
func TestTwoServers(t *testing.T) {
	t.Parallel()
	for round := range rounds(2, 40) {
		path := newSession(t)
		one, two := start(t, "compete", path, "one"), start(t, "compete", path, "two")
		var acked []string
		for len(acked) < 200 && one.acks.Scan() {
			acked = append(acked, one.acks.Text())
		}
		require.NoError(t, one.stdin.Close())
		acked = append(acked, drain(t, one)...)
		require.NoError(t, two.stdin.Close())
		acked = append(acked, drain(t, two)...)
		n := requireCompeted(t, path, acked)
		t.Logf("round %d: %d entries; %s", round, n, strings.Join(views(acked), ", "))
	}
}

// drain reads the acknowledgements of a child until it ends.
func drain(t *testing.T, c *child) (acked []string) {
	t.Helper()
	for c.acks.Scan() {
		acked = append(acked, c.acks.Text())
	}
	require.NoError(t, c.Wait(), c.said.String())
	return acked
}

// views are the states that our competitors print.
func views(acked []string) (views []string) {
	for _, a := range acked {
		if rest, ok := strings.CutPrefix(a, viewMark+" "); ok {
			views = append(views, "knows "+rest)
		}
	}
	return views
}

// requireCompeted requires the guarantee of the file and returns how many entries are
// in it.
func requireCompeted(t *testing.T, path string, acked []string) int {
	t.Helper()
	doc, err := newStore().Load(path)
	require.NoError(t, err)
	defer doc.Close()
	for _, a := range acked {
		if !strings.HasPrefix(a, viewMark) {
			_, err := doc.Index(a)
			require.NoError(t, err, "an acknowledged entry is missing, of %d in %d lines", len(acked), doc.Len())
		}
	}
	for _, p := range doc.Problems() {
		require.Equal(t, session.DuplicateID, p.Kind, fmt.Sprint(p))
	}
	requireTree(t, doc)
	return doc.Len()
}
