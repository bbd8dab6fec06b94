package agent

import (
	"context"
	"iter"
	"slices"
	"strings"

	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/recorded"
	"github.com/xcsh-ls/xcsh-ls/agent/ttsr"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/visible"
)

const (
	// maxStops bounds the answers of one turn that rules stop. Each costs a request. Later matches are
	// reminders.
	maxStops = 8

	// maxGiven bounds the rules in one message. Others may match again.
	maxGiven = 8

	// maxRuleText is the length of the rules of one turn, in bytes, after which no more are applied.
	maxRuleText = 64 << 10
)

// rules are the stream rules of one turn. They are used by the goroutine of its run only.
type rules struct {
	StreamRules
	done    map[string]bool // by name: the model got the rule in this turn
	stops   int
	size    int          // of the text that the model got, in bytes
	stopped []*ttsr.Rule // the matched rules of the answer that was stopped
	later   []ttsr.Match // matches that stop nothing, and did not reach the model yet
}

// loadRules reads the rules at the beginning of a turn. pi has no such rules, and its sessions no
// record of them.
func (h *host) loadRules(ctx context.Context) {
	if h.s.m.cfg.StreamRules == nil || h.dialect() == session.Pi {
		return
	}
	h.rules = rules{StreamRules: h.s.m.cfg.StreamRules(ctx, h.s.cwd, h.found(ctx)), done: map[string]bool{}}
}

func (h *host) dialect() (dialect session.Dialect) {
	if h.program != nil {
		return *h.program
	}
	err := h.log.View(func(d *session.Document, _ session.Leaf) error {
		dialect = d.Dialect()
		return nil
	})
	if err != nil {
		h.s.m.log.Warn("the session cannot be read", zap.Error(err)) // the first request reports it
	}
	return dialect
}

// watching returns service with the rules that the model does not have yet applied to its answer. c is the
// context of the conversation, and own its setup.
func (h *host) watching(service provider.Provider, c session.Context, own recorded.Setup) provider.Provider {
	if len(h.rules.Rules) == 0 || h.rules.size > maxRuleText {
		return service
	}
	known, err := h.injectedRules(c)
	if err != nil {
		h.s.m.log.Warn("the rules that the session records cannot be read", zap.Error(err))
		return service // a rule must not be given twice
	}
	w := ttsr.NewWatch(h.rules.Rules, h.rules.Mode, h.s.cwd, func(r *ttsr.Rule) bool {
		return !h.rules.done[r.Name] && !known[r.Name] && r.For(own.Agent)
	})
	return watched{service, w, &h.rules}
}

// injectedRules returns the names of the rules that the conversation with the context c has, by the records of the
// programs: those of injections, and of the messages that brought the rules, in case that the process
// ended between the two.
func (h *host) injectedRules(c session.Context) (known map[string]bool, err error) {
	known = map[string]bool{}
	for _, name := range c.InjectedTTSRRules {
		known[name] = true
	}
	err = h.log.View(func(d *session.Document, leaf session.Leaf) error {
		for i, typ := range d.Recent(leaf) {
			if typ != session.TypeCustomMessage {
				continue
			}
			e, err := d.Entry(i)
			if err != nil {
				return err
			}
			if custom := e.AsCustom(); custom.CustomType == ttsr.InjectionType {
				rawjson.Elements(rawjson.Get(custom.Details, "rules"), func(el []byte) bool {
					name, ok := rawjson.String(el)
					known[name] = known[name] || ok
					return true
				})
			}
		}
		return nil
	})
	return known, err
}

// watched is a service whose answer is stopped when it matches a rule.
type watched struct {
	provider.Provider
	watch *ttsr.Watch
	rules *rules
}

// Stream ends an answer that matches a rule with a failure of class RuleMatched. The piece that
// matched is the last one that is shown.
func (w watched) Stream(outer context.Context, req provider.Request) iter.Seq[provider.Event] {
	return func(yield func(provider.Event) bool) {
		ctx, stop := context.WithCancel(outer)
		defer stop()
		var later []ttsr.Match
		var stopped []*ttsr.Rule
		for e := range w.Provider.Stream(ctx, req) {
			ended := e.Kind == provider.Done || e.Kind == provider.Failed
			switch {
			case ended && stopped != nil && outer.Err() == nil:
				w.rules.stopped = stopped
				e = matched(e, stopped)
			case e.Kind == provider.Done:
				w.rules.later = append(w.rules.later, later...)
			case stopped != nil && !ended:
				continue // it was on its way
			}
			if !yield(e) {
				return
			}
			if ended || stopped != nil {
				continue
			}
			later = append(later, w.watch.See(e)...)
			if w.rules.stops < maxStops && slices.ContainsFunc(later, func(m ttsr.Match) bool { return m.Stops }) {
				for _, m := range later {
					if (m.Stops || !m.Call) && len(stopped) < maxGiven { // the calls are not run
						stopped = append(stopped, m.Rule)
					}
				}
				stop()
			}
		}
	}
}

// matched returns the end of an answer that rules stopped. The message is that of the programs.
func matched(e provider.Event, by []*ttsr.Rule) provider.Event {
	names := make([]string, len(by))
	for i, r := range by {
		names[i] = r.Name
	}
	text := "TTSR matched rule: " + strings.Join(names, ", ")
	if len(names) > 1 {
		text = "TTSR matched rules: " + strings.Join(names, ", ")
	}
	failed := provider.Event{Kind: provider.Failed, Err: &provider.Error{Class: provider.RuleMatched, Message: text}}
	if e.Message != nil {
		m := *e.Message
		m.StopReason, m.ErrorMessage = provider.StopAborted, text
		failed.Message = &m
	}
	return failed
}

// inject adds the rules that stopped the last answer to the conversation. It reports false if they
// cannot be part of it; a request without them would have the same answer.
func (h *host) inject() (notice string, ok bool) {
	by := h.rules.stopped
	h.rules.stopped = nil
	if len(by) == 0 {
		return "", false
	}
	h.rules.stops++
	if err := h.give(by, ttsr.Interruption(by, h.s.cwd, h.rules.Home)); err != nil {
		return "", false
	}
	names := make([]string, len(by))
	for i, r := range by {
		names[i] = visible.Line(r.Name) + " (" + visible.Line(r.Shown(h.s.cwd, h.rules.Home)) + ")"
	}
	what := "the rule "
	if len(names) > 1 {
		what = "the rules "
	}
	return "The answer was stopped because it matched " + what + strings.Join(names, ", ") + ". The request is repeated with its text.", true
}

// remind adds the rules that the last answer matched without being stopped.
//
// Differs: the programs begin another turn for such a match in the text of an answer. Here the rule
// reaches the model with the next request.
func (h *host) remind() error {
	later := h.rules.later
	h.rules.later = nil
	var called, said []*ttsr.Rule
	for _, m := range later[:min(len(later), maxGiven)] {
		switch {
		case h.rules.done[m.Name]:
		case m.Call:
			called = append(called, m.Rule)
		default:
			said = append(said, m.Rule)
		}
	}
	if err := h.give(called, ttsr.Reminder(called, h.s.cwd, h.rules.Home)); err != nil {
		return err
	}
	return h.give(said, ttsr.Interruption(said, h.s.cwd, h.rules.Home))
}

// give records rules as a hidden message to the model, and that the model has them. An error means that
// the message is not part of the conversation. A message without its record counts, too.
func (h *host) give(list []*ttsr.Rule, text string) error {
	if len(list) == 0 {
		return nil
	}
	h.rules.size += len(text)
	names := make([]string, len(list))
	quoted := make([][]byte, len(list))
	for i, r := range list {
		names[i], quoted[i] = r.Name, rawjson.Quote(r.Name)
		h.rules.done[r.Name] = true
	}
	message := session.DraftCustomMessage(session.Xcsh, session.Custom{
		CustomType: ttsr.InjectionType, Content: rawjson.Quote(text),
		Details: new(rawjson.Object).Raw("rules", rawjson.Array(quoted)).Bytes(),
	})
	id, err := h.log.Append(message)
	if err != nil {
		h.Emit(event.NotSaved{ErrorMessage: err.Error()})
	}
	if id == "" {
		return err
	}
	if _, err = h.log.Append(session.DraftRuleInjection(names)); err == nil {
		err = h.log.Flush() // before the request that has the rule
	}
	if err != nil {
		h.Emit(event.NotSaved{ErrorMessage: err.Error()})
	}
	return nil
}
