package agent

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"

	"github.com/xcsh-ls/xcsh-ls/agent/compaction"
	"github.com/xcsh-ls/xcsh-ls/agent/configured"
	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/agent/hook"
	"github.com/xcsh-ls/xcsh-ls/agent/loop"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// Compaction is the result of a compaction.
type Compaction struct {
	Summary          string `json:"summary"`
	TokensBefore     int    `json:"tokensBefore"`
	FirstKeptEntryID string `json:"firstKeptEntryId"`
}

// Compact replaces the older part of the conversation, for the model, by a summary of it.
// Nothing is removed from the file. instructions, which may be empty, set the focus of the
// summary. Returns a Busy error while a turn is running; the end of ctx cancels it.
func (s *Session) Compact(ctx context.Context, instructions string) (Compaction, error) {
	if result, hosted, err := s.hostedCompact(ctx, instructions); hosted {
		return result, err
	}
	var result Compaction
	var r *run
	err := s.idle(ctx, "compacting", func() error {
		log := s.current()
		end, err := s.m.BeginShared(ctx, log.Path())
		if err != nil {
			return err
		}
		if err := s.prepareFor(ctx, log, s.summarising); err != nil {
			end()
			return err
		}
		r = s.begin(log, end, func(ctx context.Context, r *run) {
			result, r.out.Err = s.compact(ctx, log, "manual", instructions)
		})
		return nil
	})
	if err != nil {
		return Compaction{}, err
	}
	r.wait(ctx)
	return result, providerFault(r.out.Err)
}

// Compact shortens the conversation of a run if that is due.
func (h *host) Compact(ctx context.Context, overflow bool) (done bool, err error) {
	reason := "overflow"
	if !overflow {
		if due, err := h.due(ctx); !due || err != nil {
			return false, err
		}
		reason = "threshold"
	}
	_, err = h.s.compact(ctx, h.log, reason, "")
	h.notes.forget()
	if fault.Is(err, fault.InvalidArgument) { // nothing to compact
		return false, nil
	}
	if err != nil || overflow {
		return err == nil, err
	}
	// A compaction that did not shorten the context enough is an error, so that it is not retried
	// after every turn.
	if due, err := h.due(ctx); due || err != nil {
		return true, errors.Join(err, errStillTooLong)
	}
	return true, nil
}

var errStillTooLong = errors.New("the conversation is still too long after compaction")

// due reports whether the conversation has outgrown the model's window.
func (h *host) due(ctx context.Context) (bool, error) {
	c, _, err := h.log.Context()
	if err != nil {
		return false, err
	}
	p, _, err := h.s.answering(ctx, h.log, c.State())
	if err != nil {
		return false, err
	}
	own, err := h.setup()
	if err != nil {
		return false, err
	}
	tokens := h.s.memo(h.log).Size(c.Messages, func() int { return provider.FixedLen(h.instructions(ctx, own)) })
	return h.compaction(ctx, p.model).Due(tokens, p.model.Window()), nil
}

// compact plans, asks for the summary and records it. The run that it belongs to prevents other
// changes of the session.
func (s *Session) compact(ctx context.Context, log *session.Log, reason, instructions string) (Compaction, error) {
	plan, err := s.plan(ctx, log)
	if err != nil {
		return Compaction{}, err
	}
	again := reason == "overflow"
	given, err := s.askCompaction(ctx, log, plan, hook.Event{Reason: reason, CustomInstructions: instructions, WillRetry: again})
	if err != nil {
		return Compaction{}, refusal(err, "the compaction")
	}
	result, err := s.carryOut(ctx, log, plan, given, reason, instructions)
	if err == nil {
		s.notifyHooks(ctx, hook.Event{Name: hook.Compact, Reason: reason, EntryID: log.LeafID(), WillRetry: again, FromExtension: given != nil})
	}
	return result, err
}

// carryOut executes a plan and reports its start and end.
func (s *Session) carryOut(
	ctx context.Context, log *session.Log, plan *compaction.Plan, given *session.Compaction, reason, instructions string,
) (result Compaction, err error) {
	s.setCompacting(true)
	s.emit(log, event.CompactionStart{Reason: reason})
	err = errors.New("the compaction failed unexpectedly") // for the event that reports a panic
	defer func() {
		s.setCompacting(false)
		end := event.CompactionEnd{Reason: reason, Aborted: ctx.Err() != nil, WillRetry: reason == "overflow" && err == nil}
		if err != nil {
			end.ErrorMessage = err.Error()
		} else {
			end.Result, _ = json.Marshal(result) // three plain fields
		}
		s.emit(log, end)
	}()
	if given == nil {
		if given, err = s.summarise(ctx, log, plan, instructions); err != nil {
			return Compaction{}, err
		}
	}
	result, err = s.recordCompaction(log, *given)
	return result, err
}

// recordCompaction appends a compaction.
func (s *Session) recordCompaction(log *session.Log, c session.Compaction) (Compaction, error) {
	_, err := log.Append(session.DraftCompaction(dialectOf(log), c))
	tokens, _ := strconv.Atoi(string(c.TokensBefore)) // it was made of a number
	return Compaction{Summary: c.Summary, TokensBefore: tokens, FirstKeptEntryID: c.FirstKeptEntryID}, err
}

func (s *Session) setCompacting(on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.compacting = on
}

// plan selects the part of the conversation to summarise.
func (s *Session) plan(ctx context.Context, log *session.Log) (*compaction.Plan, error) {
	c, _, err := log.Context()
	if err != nil {
		return nil, err
	}
	var last session.Entry
	var previous *session.Entry
	err = log.View(func(d *session.Document, leaf session.Leaf) error {
		first := true
		for i, typ := range d.Recent(leaf) {
			if !first && typ != session.TypeCompaction {
				continue
			}
			e, err := d.Entry(i)
			if err != nil {
				return err
			}
			if first {
				last, first = e, false
			}
			if typ == session.TypeCompaction {
				previous = &e
				return nil
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	p, _, err := s.summarising(ctx, log, c.State())
	if err != nil {
		return nil, err
	}
	settings := (&host{s: s, log: log}).compaction(ctx, p.model)
	plan, err := compaction.Prepare(compaction.Items(c), last, previous, settings.For(p.model.Window()))
	if err != nil {
		return nil, err
	}
	plan.Room = settings.Room(p.model.Window())
	return plan, nil
}

// summarise requests the summaries of a plan.
func (s *Session) summarise(ctx context.Context, log *session.Log, plan *compaction.Plan, instructions string) (*session.Compaction, error) {
	summary, details, err := plan.Summarise(instructions, func(q compaction.Question) (string, error) { return s.ask(ctx, log, q) })
	if err != nil {
		return nil, err
	}
	return &session.Compaction{
		Summary: summary, FirstKeptEntryID: plan.FirstKept, TokensBefore: number(int64(plan.TokensBefore)), Details: details,
	}, nil
}

// ask sends a question outside of the conversation and returns the text of the answer. It is
// retried as a turn's requests are.
func (s *Session) ask(ctx context.Context, log *session.Log, q compaction.Question) (string, error) {
	h := &host{s: s, log: log}
	prompt := Input{Text: q.Prompt}.message(s.m.now().UnixMilli())
	message, err := loop.Ask(ctx, configured.Retry(h.found(ctx), s.m.cfg.Retry), h.Emit, func(ctx context.Context) (provider.Provider, provider.Request, error) {
		service, req, err := h.requestTo(ctx, s.summarising)
		req.System, req.Messages, req.Tools, req.Size, req.OneOff = q.System, []provider.Message{prompt}, nil, 0, true
		return service, req, err
	})
	if err != nil {
		return "", err
	}
	text := message.PlainText()
	if message.StopReason != provider.StopEnd || text == "" {
		return "", errors.New("the model did not return a complete summary; nothing was changed")
	}
	return text, nil
}
