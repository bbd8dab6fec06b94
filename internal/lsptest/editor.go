package lsptest

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/lsp"
)

// stepTimeout is how long a step waits for the expected message. Only a failing test reaches it.
const stepTimeout = time.Minute

// Editor is a client of a server that runs in this process. Its steps may be used only by the
// goroutine of the test.
type Editor struct {
	t     testing.TB
	toSrv io.WriteCloser
	stop  context.CancelFunc
	done  chan struct{} // closed when the server has ended
	last  lsp.Result    // valid when done is closed

	writeMu sync.Mutex

	// mu guards the fields below.
	mu       sync.Mutex
	changed  chan struct{}     // closed and replaced when a message arrived or the output ended
	messages []*Message        // all messages of the server, in order
	taken    map[*Message]bool // returned by a step
	readErr  error
	paused   chan struct{} // closed by Resume; nil if not paused

	nextID int
}

// Pipes connects an editor to its server.
type Pipes struct {
	ServerIn  io.ReadCloser
	ServerOut io.WriteCloser
	EditorIn  io.ReadCloser
	EditorOut io.WriteCloser
}

// MemoryPipes returns unbuffered pipes in memory: a write waits for its read.
func MemoryPipes(testing.TB) Pipes {
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	return Pipes{ServerIn: inR, ServerOut: outW, EditorIn: outR, EditorOut: inW}
}

// OSPipes returns pipes of the operating system, as a process has them.
func OSPipes(t testing.TB) Pipes {
	inR, inW, err := os.Pipe()
	require.NoError(t, err)
	outR, outW, err := os.Pipe()
	require.NoError(t, err)
	return Pipes{ServerIn: inR, ServerOut: outW, EditorIn: outR, EditorOut: inW}
}

// Start runs a server over pipes in memory.
func Start(t testing.TB, o lsp.Options) *Editor {
	t.Helper()
	return StartOver(t, o, MemoryPipes(t))
}

// StartOver runs a server over the given pipes. At the end of the test it stops a server that is
// still running.
func StartOver(t testing.TB, o lsp.Options, p Pipes) *Editor {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ed := &Editor{
		t: t, toSrv: p.EditorOut, stop: cancel,
		done:    make(chan struct{}),
		changed: make(chan struct{}),
		taken:   make(map[*Message]bool),
	}
	go func() {
		defer close(ed.done)
		ed.last = lsp.Serve(ctx, p.ServerIn, p.ServerOut, o)
	}()
	go ed.read(p.EditorIn)
	t.Cleanup(func() {
		ed.Resume()
		_ = ed.toSrv.Close()
		ed.Wait()
		cancel()
		_ = p.EditorIn.Close()
		ed.checkRequests()
	})
	return ed
}

// read collects the messages of the server.
func (ed *Editor) read(in io.Reader) {
	r := bufio.NewReader(in)
	for {
		ed.mu.Lock()
		paused := ed.paused
		ed.mu.Unlock()
		if paused != nil {
			<-paused
		}
		body, err := readMessage(r)
		m := &Message{raw: body}
		if err == nil {
			err = json.Unmarshal(body, m)
		}
		ed.mu.Lock()
		if err == nil {
			ed.messages = append(ed.messages, m)
		} else {
			ed.readErr = err
		}
		close(ed.changed)
		ed.changed = make(chan struct{})
		ed.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// await returns the first wanted message that no step has returned yet.
func (ed *Editor) await(what string, want func(*Message) bool) *Message {
	ed.t.Helper()
	timeout := time.NewTimer(stepTimeout)
	defer timeout.Stop()
	for {
		m, changed, err := ed.find(want)
		if m != nil {
			return m
		}
		if err != nil {
			require.FailNow(ed.t, "the server ended before it sent "+what, "%v\n%s", err, ed.transcript())
		}
		select {
		case <-changed:
		case <-timeout.C:
			require.FailNow(ed.t, "the server did not send "+what, ed.transcript())
		}
	}
}

func (ed *Editor) find(want func(*Message) bool) (*Message, <-chan struct{}, error) {
	ed.mu.Lock()
	defer ed.mu.Unlock()
	for _, m := range ed.messages {
		if !ed.taken[m] && want(m) {
			ed.taken[m] = true
			return m, nil, nil
		}
	}
	return nil, ed.changed, ed.readErr
}

// checkRequests fails the test if no step waited for one of the server's requests.
func (ed *Editor) checkRequests() {
	ed.mu.Lock()
	defer ed.mu.Unlock()
	for _, m := range ed.messages {
		if m.isRequest() && !ed.taken[m] {
			ed.t.Errorf("the server's request %s %s was never awaited", m.ID, m.Method)
		}
	}
}

// transcript lists the messages of the server so far.
func (ed *Editor) transcript() string {
	var b strings.Builder
	b.WriteString("the server sent:\n")
	for _, m := range ed.Messages() {
		line, _ := json.Marshal(m) // it was decoded from JSON
		if len(line) > 400 {
			line = append(line[:400:400], "..."...)
		}
		fmt.Fprintf(&b, "  %s\n", line)
	}
	return b.String()
}

// Messages returns the messages of the server so far, in order.
func (ed *Editor) Messages() []*Message {
	ed.mu.Lock()
	defer ed.mu.Unlock()
	return slices.Clone(ed.messages)
}

// Pause stops reading the messages of the server, like an editor that hangs. A message that is being
// read still arrives.
func (ed *Editor) Pause() {
	ed.mu.Lock()
	defer ed.mu.Unlock()
	if ed.paused == nil {
		ed.paused = make(chan struct{})
	}
}

// Resume ends Pause.
func (ed *Editor) Resume() {
	ed.mu.Lock()
	defer ed.mu.Unlock()
	if ed.paused != nil {
		close(ed.paused)
		ed.paused = nil
	}
}

// Raw sends bytes unchanged. It does not fail the test if the server has ended.
func (ed *Editor) Raw(b []byte) {
	ed.writeMu.Lock()
	defer ed.writeMu.Unlock()
	_, _ = ed.toSrv.Write(b)
}

// Send sends a message with any contents.
func (ed *Editor) Send(body string) { ed.Raw(Frame(body)) }

// CloseInput closes the server's input, like the end of the editor's process.
func (ed *Editor) CloseInput() { _ = ed.toSrv.Close() }

// Interrupt ends the context the server runs with.
func (ed *Editor) Interrupt() { ed.stop() }

// Wait waits for the server to end and, unless the editor is paused, for all its messages.
func (ed *Editor) Wait() lsp.Result {
	ed.t.Helper()
	select {
	case <-ed.done:
		ed.waitRead()
		return ed.last
	case <-time.After(stepTimeout):
		require.FailNow(ed.t, "the server did not end", ed.transcript())
		return lsp.Result{}
	}
}

func (ed *Editor) waitRead() {
	for {
		ed.mu.Lock()
		finished, changed := ed.readErr != nil || ed.paused != nil, ed.changed
		ed.mu.Unlock()
		if finished {
			return
		}
		<-changed
	}
}
