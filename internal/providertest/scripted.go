package providertest

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/provider/answer"
)

// Scripted is a provider that plays replies without a service. It works in a bubble of
// testing/synctest. The zero value is ready; it is safe for concurrent use.
//
// Quirks have no meaning here. A fault ends the answer as a client would see it; Stall
// does so at once, as if the time were over.
type Scripted struct {
	script script

	mu       sync.Mutex
	requests []provider.Request // guarded by mu
}

// Script adds replies of the model with this id, as [Server.Script] does.
func (s *Scripted) Script(id string, replies ...Reply) { s.script.add(id, replies) }

// Requests are the requests so far. Their keys are left out.
func (s *Scripted) Requests() []provider.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Stream plays the next reply.
func (s *Scripted) Stream(ctx context.Context, req provider.Request) iter.Seq[provider.Event] {
	return func(yield func(provider.Event) bool) {
		n := s.record(req)
		a := answer.New(req.Model, time.Now(), yield)
		reply, ok := s.script.next(req.Model.ID, Request{
			API: req.Model.API, Model: req.Model.ID, System: req.System, Messages: req.Messages, Tools: req.Tools,
			MaxTokens: req.MaxTokens,
		})
		if !ok {
			a.Fail(&provider.Error{
				Class: provider.InvalidRequest, Status: 404, Message: fmt.Sprintf("the model %s is not scripted", req.Model.ID),
			})
			return
		}
		p := &performance{ctx: ctx, reply: reply, a: a, held: reply.Hold == nil}
		if err := p.play(made{id: fmt.Sprintf("%04d", n), model: req.Model.ID}); err != nil {
			a.Fail(err)
			return
		}
		a.Done()
	}
}

func (s *Scripted) record(req provider.Request) int {
	req.Key = ""
	req.Messages = slices.Clone(req.Messages)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, req)
	return len(s.requests)
}

// performance is one reply being played.
type performance struct {
	ctx   context.Context //nolint:containedctx // lives for one call of Stream
	reply Reply
	a     *answer.Answer
	held  bool
	ended bool // a block has ended
}

func (p *performance) play(m made) *provider.Error {
	if err := p.wait(p.reply.Before); err != nil {
		return err
	}
	if p.reply.Fault.before() {
		return p.failure()
	}
	r := p.reply
	p.a.ResponseID = "msg_" + m.id
	p.a.Usage = provider.Usage{Input: r.usage().Input, CacheRead: r.usage().CacheRead, CacheWrite: r.usage().CacheWrite}
	p.a.Start()
	if r.Thinking != "" {
		b := provider.Block{Type: provider.TypeThinking, ThinkingSignature: sign(r.Thinking)}
		if err := p.block(b, r.Thinking, nowhere); err != nil {
			return err
		}
	}
	if r.Redacted != "" {
		b := provider.Block{Type: provider.TypeThinking, Redacted: true, ThinkingSignature: r.Redacted}
		if err := p.block(b, "", nowhere); err != nil {
			return err
		}
	}
	if r.Text != "" {
		if err := p.block(provider.Text(""), r.Text, inText); err != nil {
			return err
		}
	}
	for i, c := range r.ToolCalls {
		at := nowhere
		if i == 0 {
			at = inCall
		}
		b := provider.Block{Type: provider.TypeToolCall, ID: c.id("toolu_", m, i), Name: c.Name}
		if err := p.block(b, c.args(), at); err != nil {
			return err
		}
	}
	p.a.Usage = r.usage()
	p.a.StopReason = r.stop()
	if p.a.StopReason == provider.StopError {
		return &provider.Error{Class: provider.Refused, Message: "the model will not answer this"}
	}
	return nil
}

// block plays a block whose middle is the place at.
func (p *performance) block(b provider.Block, content string, at place) *provider.Error {
	i := p.a.Open(b)
	pieces := p.reply.pieces(content)
	for n, piece := range pieces {
		p.a.Add(i, piece)
		if n == middle(len(pieces)) {
			if err := p.reached(at); err != nil {
				return err
			}
		}
		if err := p.gone(); err != nil {
			return err
		}
	}
	p.a.End(i)
	if !p.ended {
		p.ended = true
		return p.reached(blockEnded)
	}
	return nil
}

// reached holds or fails, if this is the place for it.
func (p *performance) reached(at place) *provider.Error {
	if !p.held && at&p.reply.holdAt() != 0 {
		p.held = true
		if err := p.wait(p.reply.Hold); err != nil {
			return err
		}
	}
	if at&p.reply.Fault.where() != 0 {
		return p.failure()
	}
	return nil
}

func (p *performance) wait(gate <-chan struct{}) *provider.Error {
	if gate != nil {
		select {
		case <-gate:
		case <-p.ctx.Done():
		}
	}
	return p.gone()
}

// gone returns the error of an aborted request, which is not seen if the reader left.
func (p *performance) gone() *provider.Error {
	if p.ctx.Err() == nil && !p.a.Stopped() {
		return nil
	}
	return &provider.Error{Class: provider.Aborted, Message: "aborted"}
}

func (p *performance) failure() *provider.Error {
	f := p.reply.Fault
	no := anthropicFormat.faults[f]
	err := &provider.Error{Class: f.Class(), Status: no.status, Code: no.kind, Message: no.message, RequestID: "req_scripted"}
	if err.Message == "" {
		err.Message = "the service failed: " + f.String()
	}
	if err.Status == 0 {
		err.Status = 200
	}
	if n, e := time.ParseDuration(p.reply.RetryAfter + "s"); e == nil {
		err.RetryAfter = n
	}
	return err
}
