package hosting

import (
	"cmp"
	"context"
	"encoding/json"

	"github.com/xcsh-ls/xcsh-ls/agent/engine"
	"github.com/xcsh-ls/xcsh-ls/agent/loop"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// Run sends a prompt to the engine, which is started if necessary, and returns when it will not continue by itself. A prompt
// that did not become part of the conversation is in Unanswered.
func (s *Seat) Run(ctx context.Context, in engine.Input) loop.Outcome {
	t, release, err := s.use(ctx)
	if err != nil {
		out := loop.Outcome{StopReason: provider.StopError, Err: err, Unanswered: []provider.Message{prompt(in)}}
		if ctx.Err() != nil {
			out.StopReason, out.Err = provider.StopAborted, nil
		}
		return out
	}
	defer release()
	s.update(ctx, t)
	s.become(engine.Running, "")
	out := t.engine.Run(ctx, in)
	s.settle(t)
	return out
}

// prompt is a prompt as a message.
func prompt(in engine.Input) provider.Message {
	m := provider.Message{Role: provider.RoleUser}
	if in.Text != "" {
		m.Content = append(m.Content, provider.Text(in.Text))
	}
	m.Content = append(m.Content, in.Images...)
	return m
}

// settle reads the last lines of a run.
func (s *Seat) settle(t *tenure) {
	select {
	case <-t.engine.Done():
		s.finish(t)
		return
	default:
	}
	s.become(engine.Ready, "")
	t.host.catch()
	s.noteStrangers(t)
}

// Queue adds a message to the current run. A Stale error reports that no run takes it.
func (s *Seat) Queue(ctx context.Context, when loop.When, in engine.Input) error {
	t := s.serving()
	if t == nil {
		return fault.New(fault.Stale, "No turn is running.")
	}
	return t.engine.Queue(ctx, when, in)
}

// Annotate changes the title of the session or a label, by the running engine. It returns the entry that records
// the change, "" if it is not known.
func (s *Seat) Annotate(ctx context.Context, a engine.Annotation) (entryID string, err error) {
	err = s.With(ctx, func(e engine.Engine) error { return e.Annotate(ctx, a) })
	if err != nil {
		return "", err
	}
	return s.cfg.Session.LeafID(), nil
}

// Bash runs a shell command of the user in the engine, and returns its message. The event that reports its record may come later: during
// a run, the engine records it at the end.
func (s *Seat) Bash(ctx context.Context, command string, exclude bool, update func(output string)) (message json.RawMessage, err error) {
	err = s.With(ctx, func(e engine.Engine) error {
		message, err = e.Bash(ctx, command, exclude, update)
		return err
	})
	return message, err
}

// Choice returns the model that answers, as the engine last reported it.
func (s *Seat) Choice() engine.Choice {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.choice
}

// Chose notes the model that the engine asks from now on.
func (s *Seat) Chose(c engine.Choice) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.choice.Thinking = cmp.Or(c.Thinking, s.choice.Thinking)
	if c.Model.ID != "" {
		s.choice.Model = c.Model
	}
}

// MovedTo shows the session at the leaf of the engine, after a move.
func (s *Seat) MovedTo(entryID string) {
	if t := s.serving(); t != nil {
		t.host.catch()
		t.host.Leaf(entryID)
	}
}
