package agent

import (
	"context"
	"encoding/json"

	"github.com/xcsh-ls/xcsh-ls/agent/approval"
	"github.com/xcsh-ls/xcsh-ls/agent/background"
	"github.com/xcsh-ls/xcsh-ls/agent/change/wire"
	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/paging"
)

// Snapshot has everything that a panel needs to draw a session from scratch. Events with a number
// up to Seq are in it; one with a higher number may be too, if it brought a message whose entry is
// in Messages.
type Snapshot struct {
	State      State             `json:"state"`
	Messages   []paging.Message  `json:"messages" jsonschema:"The current context, as stored, oldest first. With last: its newest messages."`
	Older      *paging.More      `json:"older,omitempty" jsonschema:"With last: the messages before these; absent if there are none."`
	Partial    json.RawMessage   `json:"partial,omitempty" jsonschema:"The answer being written, so far."`
	Tools      []ToolActivity    `json:"tools" jsonschema:"The tool calls of the running turn."`
	Retry      *Retry            `json:"retry,omitempty" jsonschema:"The request that is being retried; absent if there is none."`
	Queues     Queues            `json:"queues"`
	Foreign    *ForeignBranch    `json:"foreignBranch,omitempty" jsonschema:"The branch on which another program continued, if the user has not decided about it."`
	Approvals  []approval.Prompt `json:"approvals" jsonschema:"Tool calls with pending approvals."`
	Questions  []event.Question  `json:"questions" jsonschema:"Questions of the model, of servers that tools use, and of extensions of the engine that wait for an answer; see xcsh.answer."`
	Background []background.Info `json:"background" jsonschema:"Commands that run in the background."`
	Todos      json.RawMessage   `json:"todos,omitempty" jsonschema:"The phases of the model's plan: those of the newest successful result of todo or todo_write on the branch, or of the user's later change in oh-my-pi."`
	Changes    *SnapshotChanges  `json:"changes,omitempty" jsonschema:"The changes of files; absent if the session has recorded none."`
	Context    ContextUsage      `json:"contextUsage"`
	Seq        uint64            `json:"seq"`
	Pending    []string          `json:"pending,omitempty" jsonschema:"The fields that are null or absent because the session is still being read, beside those of state."`
}

// SnapshotChanges are the changes of files of the session.
type SnapshotChanges struct {
	Totals      wire.Totals `json:"totals"`
	Interrupted bool        `json:"interrupted" jsonschema:"Whether a rewind was interrupted and is not completed yet."`
}

// SnapshotChanges returns the changes of files of the session, nil if it has recorded none. It reads the changed files.
func (s *Session) SnapshotChanges(ctx context.Context) (*SnapshotChanges, error) {
	book, err := s.changesBook()
	if err != nil || len(book.Records) == 0 {
		return nil, err
	}
	c, err := s.sums(ctx)
	if err != nil {
		return nil, err
	}
	return &SnapshotChanges{Totals: c.Totals, Interrupted: c.Interrupted}, nil
}

// Queues are the messages that wait for the running turn.
type Queues struct {
	Steering []string `json:"steering"`
	FollowUp []string `json:"followUp"`
}

// ContextUsage is how full the model's window is.
type ContextUsage struct {
	Tokens        int     `json:"tokens" jsonschema:"Estimated tokens of the context."`
	ContextWindow int     `json:"contextWindow,omitempty"`
	Percent       float64 `json:"percent,omitempty"`

	pending bool // not known yet
}

// MarshalJSON implements [json.Marshaler]. A usage that is not known yet is null.
func (u ContextUsage) MarshalJSON() ([]byte, error) {
	if u.pending {
		return []byte("null"), nil
	}
	type members ContextUsage
	return json.Marshal(members(u))
}

// Snapshot describes the current state of the session with all messages of its context. If these have more than
// [paging.MaxAnswer] bytes, it returns a TooLarge error. While a turn is running the snapshot is taken between two events, if
// there is time for it.
func (s *Session) Snapshot(ctx context.Context) (Snapshot, error) {
	return s.SnapshotLast(ctx, 0, false)
}

// SnapshotLast is [Session.Snapshot] with at most that many of the newest messages. It reads hardly more than these. 0
// means all. With history, the older messages are those of the whole conversation, not only of the context.
func (s *Session) SnapshotLast(ctx context.Context, last int, history bool) (Snapshot, error) {
	for try := 0; ; try++ {
		log := s.current()
		events := s.emitter(log.Header().ID)
		at := events.now()
		snap, err := s.snapshotOf(ctx, log, last, history)
		if s.current() != log && ctx.Err() == nil {
			continue // another session is live now
		}
		if err != nil {
			return Snapshot{}, err
		}
		snap.Seq, snap.Partial, snap.Tools, snap.Retry = at.seq, at.partial, at.tools, at.retry
		if snap.Tools == nil {
			snap.Tools = []ToolActivity{}
		}
		// Messages are read after the events, so that none is missing.
		if try >= 3 || events.last() == at.seq {
			return snap, nil
		}
	}
}

func (s *Session) snapshotOf(ctx context.Context, log *session.Log, last int, history bool) (Snapshot, error) {
	state, err := s.stateIn(log)
	if err != nil {
		return Snapshot{}, err
	}
	snap := Snapshot{State: state, Approvals: s.gate.Pending(), Questions: s.Questions(), Background: s.background.Running()}
	if last > 0 {
		err = s.addNewest(ctx, &snap, log, last, history)
	} else {
		err = s.addContext(ctx, &snap, log)
	}
	if err != nil {
		return Snapshot{}, err
	}
	steering, followUp := s.queue.Texts()
	snap.Queues = Queues{Steering: steering, FollowUp: followUp}
	snap.Foreign = s.foreignIn(log)
	return snap, nil
}

// addContext adds all messages of the context, and the facts about them.
func (s *Session) addContext(ctx context.Context, snap *Snapshot, log *session.Log) error {
	if err := log.View(func(d *session.Document, leaf session.Leaf) error { return paging.CheckContext(d, leaf, "last") }); err != nil {
		return err
	}
	c, _, err := log.Context()
	if err != nil {
		return err
	}
	snap.Messages = make([]paging.Message, len(c.Messages))
	for i, m := range c.Messages {
		snap.Messages[i] = paging.Message{EntryID: c.EntryIDs[i], Message: m}
	}
	if err := log.View(func(d *session.Document, leaf session.Leaf) (err error) {
		snap.Todos, err = todosAfter(d, leaf, c.Messages)
		return err
	}); err != nil {
		return err
	}
	snap.Context = s.contextUsage(ctx, log, s.tokens(log, c), c.State())
	return nil
}

// contextUsage is how full a context of that many tokens makes the window of the model that its state names.
func (s *Session) contextUsage(ctx context.Context, log *session.Log, tokens int, state session.ContextState) ContextUsage {
	u := ContextUsage{Tokens: tokens}
	if p, _, err := s.answering(ctx, log, state); err == nil {
		u.ContextWindow = p.model.Window()
		u.Percent = 100 * float64(u.Tokens) / float64(u.ContextWindow)
	}
	return u
}
