// Package playedengine has an engine for tests that plays pi without a process.
package playedengine

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/engine"
	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/agent/loop"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// Program plays pi, without a process: it writes a session file in pi's form. It is safe for concurrent use; its exported fields are
// set before Open.
type Program struct {
	Fs     afero.Fs
	Number int                                                                 // the entries of each program have ids of their own
	Opens  func(p *Program) error                                              // nil succeeds
	Runs   func(ctx context.Context, p *Program, in engine.Input) loop.Outcome // nil answers "ok"
	Queues func(when loop.When, in engine.Input) error                         // nil takes the message

	Host engine.Host  // as Open got it
	At   engine.Place // as Open got it
	File string       // the session file

	t testing.TB

	mu      sync.Mutex
	leaf    string // guarded by mu, like all below
	n       int
	rereads int
	err     error
	done    chan struct{}
	once    sync.Once
}

// New returns the n-th program of a test.
func New(t testing.TB, fs afero.Fs, n int) *Program {
	return &Program{Fs: fs, Number: n, t: t, done: make(chan struct{})}
}

// Can implements [engine.Engine].
func (p *Program) Can() engine.Can {
	return engine.Can{Steer: true, Branch: true, Compact: true, Images: true, Files: true, Permission: true, Models: true}
}

// Open implements [engine.Engine].
func (p *Program) Open(_ context.Context, at engine.Place, h engine.Host) (engine.Opened, error) {
	p.At, p.Host, p.File = at, h, at.File
	if p.Opens != nil {
		if err := p.Opens(p); err != nil {
			p.end(err)
			return engine.Opened{}, err
		}
	}
	if p.File == "" {
		p.File = filepath.Join(at.Dir, "2026-01-02T03-04-05-678Z_"+at.ID+".jsonl")
	}
	p.read()
	return engine.Opened{File: p.File, LeafID: p.leaf, Version: "1.5.2", Model: provider.Ref{Provider: "mock", ID: "large"}}, nil
}

// read takes the last entry of the file as the leaf.
func (p *Program) read() {
	raw, err := afero.ReadFile(p.Fs, p.File)
	if err != nil {
		return
	}
	for line := range strings.Lines(string(raw)) {
		var e struct{ Type, ID string }
		if json.Unmarshal([]byte(line), &e) == nil && e.Type != "session" {
			p.leaf = e.ID
		}
	}
}

// Append writes an entry behind the leaf, and the header before the first.
func (p *Program) Append(members string) (id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if exists, _ := afero.Exists(p.Fs, p.File); !exists {
		p.write(fmt.Sprintf(`{"type":"session","version":3,"id":%q,"timestamp":"2026-01-02T03:04:05.678Z","cwd":%q}`, p.At.ID, p.At.Cwd))
	}
	p.n++
	id = fmt.Sprintf("%04x%04x", p.Number, p.n)
	parent := "null"
	if p.leaf != "" {
		parent = `"` + p.leaf + `"`
	}
	p.write(`{"type":"message","id":"` + id + `","parentId":` + parent + `,"timestamp":"2026-01-02T03:04:05.678Z","message":` + members + `}`)
	p.leaf = id
	return id
}

func (p *Program) write(line string) {
	require.NoError(p.t, p.Fs.MkdirAll(filepath.Dir(p.File), 0o700))
	AppendLine(p.t, p.Fs, p.File, line+"\n")
}

// AppendLine appends to a file in one write, as another program does.
func AppendLine(t testing.TB, fs afero.Fs, path, line string) {
	t.Helper()
	raw, err := afero.ReadFile(fs, path)
	if err != nil {
		raw = nil
	}
	f, err := fs.OpenFile(path, 0x401|0x40, 0o600) // append, write, create
	require.NoError(t, err)
	_, err = f.Write([]byte(line))
	require.NoError(t, err)
	require.NoError(t, f.Close())
	now, err := afero.ReadFile(fs, path)
	require.NoError(t, err)
	require.Equal(t, string(raw)+line, string(now), "the test's file system appends")
}

// UserMessage returns a prompt as pi records it.
func UserMessage(text string) string {
	return fmt.Sprintf(`{"role":"user","content":[{"type":"text","text":%q}],"timestamp":1}`, text)
}

// AnswerMessage returns an answer as pi records it.
func AnswerMessage(text string) string {
	return fmt.Sprintf(`{"role":"assistant","content":[{"type":"text","text":%q}],"provider":"mock","model":"large","stopReason":"stop","timestamp":2}`, text)
}

// Say reports a message and then writes it, as pi does.
func (p *Program) Say(ctx context.Context, message string) {
	raw := json.RawMessage(message)
	p.Host.Emit(event.MessageStart{Message: raw})
	written := make(chan struct{})
	go func() {
		defer close(written)
		p.Host.Message(ctx, raw)
	}()
	p.Append(message)
	<-written
}

// Run implements [engine.Engine].
func (p *Program) Run(ctx context.Context, in engine.Input) loop.Outcome {
	if p.Runs != nil {
		return p.Runs(ctx, p, in)
	}
	p.Say(ctx, UserMessage(in.Text))
	p.Say(ctx, AnswerMessage("ok"))
	p.Host.Leaf(p.leaf)
	return loop.Outcome{StopReason: provider.StopEnd}
}

// Queue implements [engine.Engine].
func (p *Program) Queue(_ context.Context, when loop.When, in engine.Input) error {
	if p.Queues == nil {
		return nil
	}
	return p.Queues(when, in)
}

// Models implements [engine.Engine].
func (p *Program) Models(context.Context) ([]provider.Info, error) { return nil, nil }

// SetModel implements [engine.Engine].
func (p *Program) SetModel(_ context.Context, ref provider.Ref) (engine.Choice, error) {
	return engine.Choice{Model: ref}, nil
}

// SetThinking implements [engine.Engine].
func (p *Program) SetThinking(_ context.Context, l provider.Level) (engine.Choice, error) {
	return engine.Choice{Thinking: l}, nil
}

// Compact implements [engine.Engine].
func (p *Program) Compact(context.Context, string) (engine.Compaction, error) {
	return engine.Compaction{}, nil
}

// Move implements [engine.Engine].
func (p *Program) Move(_ context.Context, id string, _ engine.Summary) (engine.Moved, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.leaf = id
	return engine.Moved{LeafID: id}, nil
}

// Annotate implements [engine.Engine].
func (p *Program) Annotate(_ context.Context, a engine.Annotation) error {
	p.Append(`{"role":"user","content":"title ` + a.Title + `"}`)
	return nil
}

// Bash implements [engine.Engine].
func (p *Program) Bash(_ context.Context, command string, _ bool, _ func(string)) (json.RawMessage, error) {
	m := `{"role":"bashExecution","command":"` + command + `","output":"","cancelled":false,"truncated":false,"timestamp":3}`
	p.Append(m)
	return json.RawMessage(m), nil
}

// Commands implements [engine.Engine].
func (p *Program) Commands(context.Context) ([]engine.Command, error) { return nil, nil }

// Reread implements [engine.Engine].
func (p *Program) Reread(context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rereads++
	p.read()
	return nil
}

// Done implements [engine.Engine].
func (p *Program) Done() <-chan struct{} { return p.done }

// Err implements [engine.Engine].
func (p *Program) Err() error {
	<-p.done
	return p.err
}

// Close implements [engine.Engine].
func (p *Program) Close(context.Context) error {
	p.end(nil)
	return nil
}

func (p *Program) end(err error) {
	p.once.Do(func() {
		p.err = err
		close(p.done)
	})
}

// Crash ends the program by itself.
func (p *Program) Crash() {
	p.end(fault.New(fault.Provider, "pi was killed.").With("class", "engine").With("details", "last words"))
}

// Rereads returns how often the program read its file again.
func (p *Program) Rereads() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.rereads
}
