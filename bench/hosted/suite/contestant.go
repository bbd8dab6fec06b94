package suite

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"github.com/xcsh-ls/xcsh-ls/bench/wire/child"
)

// contestant is a running program that answers prompts.
type contestant interface {
	// prompt sends a prompt once the program is idle, and returns when it has been answered.
	prompt(text string) (turn, error)

	// resident returns the resident size of the program; 0 if unknown.
	resident() int64

	close() error
}

// turn is the cost of a prompt.
type turn struct {
	begun       time.Time
	first, wall time.Duration // from the prompt to the first piece of the text, and to the end of the run
	cpu         time.Duration // of the program, not of an agent that it runs
	peak        int64         // the largest resident size of the program while it answered
	resident    int64         // afterwards; 0 if it was not measured

	pieces, bytes int               // of the text
	text          [sha256.Size]byte // its digest
}

// view is the part of an answer that a client has seen. It is safe for concurrent use.
type view struct {
	mu     sync.Mutex
	first  time.Time
	pieces [][]byte
}

// see looks at a message. The client does no more with it while it reads, so that it does not slow the program down.
func (s *view) see(content []byte, at time.Time) {
	const begin = 1 << 10 // of an event, where its type is
	if !bytes.Contains(content[:min(len(content), begin)], []byte(`"text_delta"`)) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.pieces) == 0 {
		s.first = at
	}
	s.pieces = append(s.pieces, content)
}

// take adds the text that was seen since the last call to a turn.
func (s *view) take(t *turn) error {
	s.mu.Lock()
	pieces, first := s.pieces, s.first
	s.pieces = nil
	s.mu.Unlock()
	if len(pieces) == 0 {
		return errors.New("the client saw no text")
	}
	text := sha256.New()
	for _, content := range pieces {
		_, rest, _ := bytes.Cut(content, []byte(`"delta":`)) // in a text, the quotes are escaped
		var delta string
		if err := json.NewDecoder(bytes.NewReader(rest)).Decode(&delta); err != nil {
			return fmt.Errorf("%.200s: %w", content, err)
		}
		t.bytes += len(delta)
		_, _ = text.Write([]byte(delta)) // never fails
	}
	t.first, t.pieces = first.Sub(t.begun), len(pieces)
	text.Sum(t.text[:0])
	return nil
}

// server is the built server.
type server struct {
	*child.Server

	seen *view
}

// openIn starts a program for the user below root.
func (r *Runner) openIn(ctx context.Context, e Engine, p program, root string, reopen bool) (contestant, error) {
	if p == alone {
		return r.openAgent(ctx, e, root, reopen)
	}
	s := &server{seen: &view{}}
	options := map[string]any{"engine": "pi", "approval": "yolo"}
	if p == own || p == none {
		options["engine"], options["model"] = "own", "fake/m"
	}
	var err error
	if s.Server, _, err = child.Start(ctx, child.Config{
		Program: r.Server, Home: homeOf(root), AgentDir: filepath.Join(homeOf(root), ".xcsh", "agent"), Folder: workOf(root),
		Options: options, Env: environment(root), Watch: s.seen.see, Quiet: r.Quiet,
	}); err != nil {
		return nil, err
	}
	if reopen {
		if err := s.resume(sessionOf(root)); err != nil {
			s.Kill()
			return nil, err
		}
	}
	return s, nil
}

func (s *server) resume(path string) error {
	a, err := s.Call("xcsh.resume", map[string]any{"target": path})
	if err == nil && a.Kind != "" {
		err = errors.New(a.Text)
	}
	return err
}

func (s *server) prompt(text string) (t turn, err error) {
	a, cost, err := s.Measure("xcsh.prompt", map[string]any{"text": text}, true)
	if err != nil {
		return t, err
	}
	var said struct{ StopReason, ErrorMessage string }
	if a.Kind == "" {
		err = json.Unmarshal(a.Result, &said)
	}
	if err != nil || said.StopReason != "stop" {
		return t, fmt.Errorf("the prompt was not answered: %s%s %w", a.Text, said.ErrorMessage, err)
	}
	t = turn{begun: cost.Begun, wall: cost.Wall, cpu: cost.CPU, peak: cost.Peak}
	return t, s.seen.take(&t)
}

func (s *server) resident() int64 { return s.Resident() }

func (s *server) close() error { return s.Close() }
