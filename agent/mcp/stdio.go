package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/agent/engine/child"
	"github.com/xcsh-ls/xcsh-ls/agent/environ"
)

const (
	maxMessage = 32 << 20 // bytes of one message of a server
	maxRubbish = 10_000   // lines between two messages that are none

	cancelledMethod = "notifications/cancelled"
)

var errRubbish = errors.New("it prints lines that are not messages of the protocol")

// process is a server that is a program, and the connection to it.
type process struct {
	child     *child.Child
	cancelled func() // called when a cancellation was sent
	changed   func() // called when a change of a list is read, before what follows it is

	over    chan struct{} // closed when no message will come any more
	endOnce sync.Once

	mu      sync.Mutex
	pending []jsonrpc.Message // of a batch; guarded by mu
	rubbish int               // lines since the last message; guarded by mu
	spoiled bool              // it was ended because of them; guarded by mu
}

// startProcess starts the program of a server.
func startProcess(ctx context.Context, s Server, o Options, log *zap.Logger, cancelled, changed func()) (*process, error) {
	dir := o.Cwd
	if s.Cwd != "" {
		if dir = s.Cwd; !filepath.IsAbs(dir) {
			dir = filepath.Join(o.Cwd, dir)
		}
	}
	env := append(environ.Keep(o.Env, o.PassEnv...), s.Env...)
	path, err := findProgram(s.Command, dir, env)
	if err != nil {
		return nil, err
	}
	c, err := child.Start(ctx, child.Config{
		Path: path, Args: s.Args, Env: env, Dir: dir, Name: s.Name, Log: log, MaxLine: maxMessage,
	})
	if err != nil {
		return nil, err
	}
	return &process{child: c, cancelled: cancelled, changed: changed, over: make(chan struct{})}, nil
}

// findProgram returns the absolute path of a program, which it looks up in the PATH of env. Relative directories of PATH do not
// count: a folder must not choose the program.
func findProgram(command, dir string, env []string) (string, error) {
	if command == "" {
		return "", errors.New("it has no command")
	}
	if filepath.Base(command) != command {
		if !filepath.IsAbs(command) {
			command = filepath.Join(dir, command)
		}
		return command, nil
	}
	path := ""
	for _, v := range env {
		name, value, _ := strings.Cut(v, "=")
		if name == "PATH" || runtime.GOOS == "windows" && strings.EqualFold(name, "PATH") {
			path = value
		}
	}
	for _, d := range filepath.SplitList(path) {
		if !filepath.IsAbs(d) {
			continue
		}
		if found, err := exec.LookPath(filepath.Join(d, command)); err == nil {
			return found, nil
		}
	}
	return "", fmt.Errorf("exec: %q: not found", command)
}

// Connect makes the process a transport of the SDK.
func (p *process) Connect(context.Context) (sdk.Connection, error) { return p, nil }

// SessionID implements the connection of the SDK.
func (p *process) SessionID() string { return "" }

// Read returns the next message. Other lines are skipped: many programs print a greeting.
func (p *process) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		if m := p.next(); m != nil {
			if r, ok := m.(*jsonrpc.Request); ok && isChange(r.Method) {
				p.changed()
			}
			return m, nil
		}
		select {
		case line, ok := <-p.child.Lines():
			if !ok {
				p.ends()
				return nil, io.EOF
			}
			if !p.take(line) {
				p.ends()
				_ = p.child.Kill() // its end is reported by Read
				return nil, errRubbish
			}
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// ends records that no message will come any more.
func (p *process) ends() { p.endOnce.Do(func() { close(p.over) }) }

// next returns the next message of a batch, nil if there is none.
func (p *process) next() jsonrpc.Message {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.pending) == 0 {
		return nil
	}
	m := p.pending[0]
	p.pending = p.pending[1:]
	return m
}

// take reads a line, and reports whether the server may go on.
func (p *process) take(line []byte) bool {
	messages := decode(line)
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(messages) == 0 {
		p.rubbish++
		p.spoiled = p.rubbish > maxRubbish
		return !p.spoiled
	}
	p.rubbish, p.pending = 0, messages
	return true
}

// decode returns the messages of a line.
func decode(line []byte) (messages []jsonrpc.Message) {
	lines := []json.RawMessage{line}
	switch line = bytes.TrimSpace(line); {
	case len(line) == 0:
		return nil
	case line[0] == '[':
		if json.Unmarshal(line, &lines) != nil {
			return nil
		}
	case line[0] != '{':
		return nil
	}
	for _, l := range lines {
		if m, err := jsonrpc.DecodeMessage(l); err == nil {
			messages = append(messages, m)
		}
	}
	return messages
}

// Write sends a message.
func (p *process) Write(ctx context.Context, m jsonrpc.Message) error {
	line, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return err
	}
	err = p.child.Write(ctx, line)
	if r, ok := m.(*jsonrpc.Request); ok && r.Method == cancelledMethod {
		p.cancelled()
	}
	return err
}

// Close ends the program with everything that it started.
func (p *process) Close() error { return p.child.Close(context.Background()) }

// end returns why the program has ended, as the end of a sentence, and the last lines of its standard error.
func (p *process) end() (why string, stderr []string) {
	exit := p.child.Exit()
	p.mu.Lock()
	spoiled := p.spoiled
	p.mu.Unlock()
	switch {
	case spoiled:
		why = errRubbish.Error()
	case exit.Err != nil:
		why = exit.Err.Error()
	default:
		why = "it " + exit.String()
	}
	return why, lastLines(p.child.Stderr())
}

// shownErrors is how many lines of the standard error are shown, and shownLine how much of each.
const (
	shownErrors = 5
	shownLine   = 500
)

func lastLines(text string) []string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	lines = lines[max(0, len(lines)-shownErrors):]
	var out []string
	for _, l := range lines {
		if l = strings.TrimSpace(l); len(l) > shownLine {
			l = strings.ToValidUTF8(l[:shownLine], "") + "…"
		}
		if l != "" {
			out = append(out, l)
		}
	}
	return out
}
