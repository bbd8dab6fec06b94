package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.lsp.dev/protocol"

	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/lsp/conn"
	"github.com/xcsh-ls/xcsh-ls/session/visible"
)

// reportEvery is the minimum interval between two reports of one progress. Editors redraw for each.
const reportEvery = 250 * time.Millisecond

// maxIgnored is the number of consecutive unanswered window/workDoneProgress/create requests after
// which the server stops sending them.
const maxIgnored = 3

// progressToken identifies a progress. It is the JSON of an integer or a string; "" is no token.
type progressToken string

// parseToken decodes a token. It returns "" for anything but an integer or a string.
func parseToken(raw json.RawMessage) progressToken {
	id := conn.ParseID(raw)
	if n, ok := id.Number(); ok {
		return progressToken(fmt.Sprint(n))
	}
	if s, ok := id.StringValue(); ok {
		// Encoded again, so that two spellings of one string are one token.
		raw, _ := conn.EncodeJSON(s)
		return progressToken(raw)
	}
	return ""
}

// progresses maps requests to their progress reports. It is safe for concurrent use.
type progresses struct {
	s *server

	mu      sync.Mutex
	made    int                          // tokens made by the server; guarded by mu
	ignored int                          // consecutive unanswered create requests; guarded by mu
	cancels map[progressToken]*conn.Call // guarded by mu
	tokens  map[*conn.Call]*callToken    // guarded by mu
	open    map[*conn.Call][]*progress   // begun and not ended; guarded by mu
}

// callToken is the workDoneToken of a request.
type callToken struct {
	token progressToken
	used  bool // by a report
}

func newProgresses(s *server) *progresses {
	return &progresses{s: s, cancels: make(map[progressToken]*conn.Call), tokens: make(map[*conn.Call]*callToken), open: make(map[*conn.Call][]*progress)}
}

// attach makes token the progress of a request: its first report uses it, and
// cancelling the progress cancels the request.
func (ps *progresses) attach(c *conn.Call, token progressToken) {
	if c == nil || token == "" {
		return
	}
	ps.mu.Lock()
	defer ps.mu.Unlock()
	ps.tokens[c] = &callToken{token: token}
	ps.cancels[token] = c
}

// endAll removes a request that is done. It ends the reports that the command left open, for example by
// a panic, because editors show a progress until its end.
func (ps *progresses) endAll(c *conn.Call) {
	ps.mu.Lock()
	unended := ps.open[c]
	delete(ps.open, c)
	if t := ps.tokens[c]; t != nil {
		delete(ps.cancels, t.token)
		delete(ps.tokens, c)
	}
	ps.mu.Unlock()
	for _, p := range unended {
		p.End("")
	}
}

func (ps *progresses) forget(token progressToken) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	delete(ps.cancels, token)
}

// begin starts a progress. It uses the token of the request, or creates one if the client supports
// that. Otherwise nothing is shown.
func (ps *progresses) begin(ctx context.Context, title string) commands.Progress {
	c := conn.CallOf(ctx)
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

// takeToken returns the token of a request unless a progress uses it already.
func (ps *progresses) takeToken(c *conn.Call) progressToken {
	if c == nil {
		return ""
	}
	ps.mu.Lock()
	defer ps.mu.Unlock()
	t := ps.tokens[c]
	if t == nil || t.used {
		return ""
	}
	t.used = true
	return t.token
}

// create asks the client to create a progress with a token of the server.
func (ps *progresses) create(ctx context.Context, c *conn.Call) progressToken {
	if !ps.s.client.progress {
		return ""
	}
	ps.mu.Lock()
	if ps.ignored >= maxIgnored {
		ps.mu.Unlock()
		return ""
	}
	ps.made++
	token := progressToken(fmt.Sprintf(`"xcsh-%d"`, ps.made))
	if c != nil {
		ps.cancels[token] = c // the client may cancel before its answer arrives
	}
	ps.mu.Unlock()
	params := struct {
		Token json.RawMessage `json:"token"`
	}{json.RawMessage(token)}
	err := ps.s.ask(ctx, protocol.MethodWindowWorkDoneProgressCreate, &params, nil)
	ps.answered(!errors.Is(err, errUnanswered))
	if err != nil {
		ps.forget(token)
		return ""
	}
	return token
}

// answered counts the create requests that the client did not answer.
func (ps *progresses) answered(yes bool) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	if yes {
		ps.ignored = 0
	} else {
		ps.ignored++
	}
}

// progressCancel handles window/workDoneProgress/cancel: it cancels the request that the progress
// belongs to.
func (s *server) progressCancel(params json.RawMessage) error {
	var p struct {
		Token json.RawMessage `json:"token"`
	}
	if err := json.Unmarshal(params, &p); err != nil {
		return err
	}
	s.progress.mu.Lock()
	defer s.progress.mu.Unlock()
	if c := s.progress.cancels[parseToken(p.Token)]; c != nil {
		c.Cancel()
	}
	return nil
}

// progress is the progress report of one piece of work. It is safe for concurrent use. It does not
// depend on the context of the work, so the end of cancelled work is sent too.
type progress struct {
	ps    *progresses
	token progressToken

	mu      sync.Mutex
	last    time.Time      // of the last report; guarded by mu
	waiting *progressValue // delayed by reportEvery; guarded by mu
	stop    func() bool    // the timer that sends it; guarded by mu
	ended   bool           // guarded by mu
}

// progressValue is the value of $/progress.
type progressValue struct {
	Kind        string  `json:"kind"`
	Title       string  `json:"title,omitempty"`
	Cancellable bool    `json:"cancellable,omitempty"`
	Message     *string `json:"message,omitempty"` // of a report, "" removes the previous one
	Percentage  *int    `json:"percentage,omitempty"`
}

// Report shows a message, at once or when reportEvery has passed. Of several waiting messages it shows
// the last.
func (p *progress) Report(message string, percent int) {
	v := progressValue{Kind: "report", Message: &message}
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
	v := progressValue{Kind: "end"}
	if message != "" {
		v.Message = &message
	}
	p.send(v)
	p.ps.forget(p.token)
}

// send queues a value. A report replaces one that is still waiting to be written.
func (p *progress) send(v progressValue) {
	v.Title = visible.Line(v.Title)
	if v.Message != nil {
		v.Message = new(visible.Line(*v.Message))
	}
	merge := ""
	if v.Kind == "report" {
		merge = protocol.MethodProgress + "\x00" + string(p.token)
	}
	p.ps.s.notify(protocol.MethodProgress, struct {
		Token json.RawMessage `json:"token"`
		Value progressValue   `json:"value"`
	}{json.RawMessage(p.token), v}, merge)
}
