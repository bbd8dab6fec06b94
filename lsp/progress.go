package lsp

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"go.lsp.dev/protocol"

	"github.com/xcsh-ls/xcsh-ls/commands"
)

// reportEvery is the shortest time between two reports of one progress: editors
// redraw for each, and nobody reads faster.
const reportEvery = 250 * time.Millisecond

// progressToken names a progress. It is the JSON of an integer or a string; ""
// is no token.
type progressToken string

// parseToken reads a token. What is neither an integer nor a string is no token.
func parseToken(raw json.RawMessage) progressToken {
	id := parseID(raw)
	if n, ok := id.Number(); ok {
		return progressToken(fmt.Sprint(n))
	}
	if s, ok := id.StringValue(); ok {
		// Encoded again, so that two spellings of one string are one token.
		raw, _ := encodeJSON(s)
		return progressToken(raw)
	}
	return ""
}

// progresses knows which progress belongs to which request. It is safe for
// concurrent use.
type progresses struct {
	s *server

	mu      sync.Mutex
	made    int                           // tokens made by the server; guarded by mu
	cancels map[progressToken]func(error) // guarded by mu
	open    map[*call][]*progress         // begun and not ended; guarded by mu
}

func newProgresses(s *server) *progresses {
	return &progresses{s: s, cancels: make(map[progressToken]func(error)), open: make(map[*call][]*progress)}
}

// attach makes token the progress of a request: its first report uses it, and
// cancelling the progress cancels the request.
func (ps *progresses) attach(c *call, token progressToken) {
	if c == nil || token == "" {
		return
	}
	ps.mu.Lock()
	defer ps.mu.Unlock()
	c.token, c.asked = token, token
	ps.cancels[token] = c.cancel
}

// endAll forgets a request that is done. It ends what the command left open, as
// one that panicked did: editors show a progress until its end.
func (ps *progresses) endAll(c *call) {
	ps.mu.Lock()
	left := ps.open[c]
	delete(ps.open, c)
	delete(ps.cancels, c.asked)
	ps.mu.Unlock()
	for _, p := range left {
		p.End("")
	}
}

func (ps *progresses) forget(token progressToken) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	delete(ps.cancels, token)
}

// begin starts a progress. It uses the token of the request, or else makes one if
// the client lets the server begin progress; otherwise nothing is shown.
func (ps *progresses) begin(ctx context.Context, title string) commands.Progress {
	c := callOf(ctx)
	token := ps.takeToken(c)
	if token == "" {
		if token = ps.create(ctx, c); token == "" {
			return commands.Headless{}.Progress(ctx, title)
		}
	}
	p := &progress{ps: ps, token: token}
	if c != nil {
		ps.mu.Lock()
		ps.open[c] = append(ps.open[c], p)
		ps.mu.Unlock()
	}
	p.send(progressValue{Kind: "begin", Title: title, Cancellable: c != nil})
	p.last = ps.s.opts.Clock.Now()
	return p
}

// takeToken returns the token of a request that no progress uses yet.
func (ps *progresses) takeToken(c *call) progressToken {
	if c == nil {
		return ""
	}
	ps.mu.Lock()
	defer ps.mu.Unlock()
	token := c.token
	c.token = ""
	return token
}

// create asks the client for a progress of the server's own.
func (ps *progresses) create(ctx context.Context, c *call) progressToken {
	if !ps.s.client.progress {
		return ""
	}
	ps.mu.Lock()
	ps.made++
	token := progressToken(fmt.Sprintf(`"xcsh-%d"`, ps.made))
	if c != nil {
		ps.cancels[token] = c.cancel // the client may cancel before its answer arrives
	}
	ps.mu.Unlock()
	params := struct {
		Token json.RawMessage `json:"token"`
	}{json.RawMessage(token)}
	if err := ps.s.ask(ctx, protocol.MethodWindowWorkDoneProgressCreate, &params, nil); err != nil {
		ps.forget(token)
		return ""
	}
	return token
}

// progressCancel is window/workDoneProgress/cancel: it cancels the request that
// the progress is about.
func (s *server) progressCancel(params json.RawMessage) error {
	var p struct {
		Token json.RawMessage `json:"token"`
	}
	if err := json.Unmarshal(params, &p); err != nil {
		return err
	}
	s.progress.mu.Lock()
	defer s.progress.mu.Unlock()
	if cancel := s.progress.cancels[parseToken(p.Token)]; cancel != nil {
		cancel(errClientCancelled)
	}
	return nil
}

// progress is one report of long work. It is safe for concurrent use. Nothing of
// it depends on the context of the work: the end of a cancelled one is sent too.
type progress struct {
	ps    *progresses
	token progressToken

	mu      sync.Mutex
	last    time.Time      // of the last report; guarded by mu
	waiting *progressValue // held back by reportEvery; guarded by mu
	stop    func() bool    // the timer that sends it; guarded by mu
	ended   bool           // guarded by mu
}

// progressValue is the value of $/progress.
type progressValue struct {
	Kind        string `json:"kind"`
	Title       string `json:"title,omitempty"`
	Cancellable bool   `json:"cancellable,omitempty"`
	Message     string `json:"message,omitempty"`
	Percentage  *int   `json:"percentage,omitempty"`
}

// Report shows a message, at once or when reportEvery has passed; of several that
// have to wait the last one is shown.
func (p *progress) Report(message string, percent int) {
	v := progressValue{Kind: "report", Message: message}
	if percent >= 0 {
		v.Percentage = new(min(percent, 100))
	}
	clock := p.ps.s.opts.Clock
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended {
		return
	}
	wait := reportEvery - clock.Now().Sub(p.last)
	switch {
	case p.waiting != nil:
		p.waiting = &v
	case wait > 0:
		p.waiting = &v
		p.stop = clock.AfterFunc(wait, p.sendWaiting)
	default:
		p.last = clock.Now()
		p.send(v)
	}
}

func (p *progress) sendWaiting() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended || p.waiting == nil {
		return
	}
	v := *p.waiting
	p.waiting, p.last = nil, p.ps.s.opts.Clock.Now()
	p.send(v)
}

// End ends the report. Later calls do nothing.
func (p *progress) End(message string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended {
		return
	}
	p.ended = true
	if p.stop != nil {
		p.stop()
	}
	p.send(progressValue{Kind: "end", Message: message})
	p.ps.forget(p.token)
}

// send queues a value. A report that still waits to be written is replaced by a
// newer one.
func (p *progress) send(v progressValue) {
	merge := ""
	if v.Kind == "report" {
		merge = protocol.MethodProgress + "\x00" + string(p.token)
	}
	p.ps.s.notify(protocol.MethodProgress, struct {
		Token json.RawMessage `json:"token"`
		Value progressValue   `json:"value"`
	}{json.RawMessage(p.token), v}, merge)
}
