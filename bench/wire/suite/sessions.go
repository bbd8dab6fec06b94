package suite

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/xcsh-ls/xcsh-ls/bench"
	"github.com/xcsh-ls/xcsh-ls/bench/wire/child"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
)

// Sessions measures the commands of one session on the stores' first sessions. only selects among them by name; nil: all.
func (r *Runner) Sessions(ctx context.Context, only *regexp.Regexp, stores ...Store) error {
	for _, s := range stores {
		for _, o := range operations() {
			if !r.selects(o.name) || only != nil && !only.MatchString(o.name) || o.newest && s.Facts == nil {
				continue
			}
			for _, t := range o.temperatures() {
				err := r.inTurn(func(p Program) error { return r.measure(ctx, o, p, s, t) })
				if err != nil {
					return fmt.Errorf("%s, %s, %s: %w", o.name, t, s.Name, err)
				}
			}
		}
		if err := r.discard(s); err != nil {
			return err
		}
	}
	return nil
}

// discard removes what the programs have written for a store.
func (r *Runner) discard(s Store) (err error) {
	for _, p := range r.Programs {
		r.forget(r.dir(p, s, "agent"))
		err = errors.Join(err, os.RemoveAll(r.dir(p, s)))
	}
	return err
}

// measure measures an operation once.
func (r *Runner) measure(ctx context.Context, o operation, p Program, s Store, t Temperature) error {
	m := Result{Command: o.name, Temperature: t, Store: s.Name, Program: p.Name}
	if r.abandoned(m) {
		return nil
	}
	cost, c, note, err := r.once(ctx, o, p, s, t, false)
	if m.Note = note; err == nil && (note == "" || strings.HasPrefix(note, "error")) {
		if c == nil { // too large to keep while measuring
			_, c, _, err = r.once(ctx, o, p, s, t, true)
		}
		m.Wrong = r.compare(o.name, s, p, c)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil { // the other commands are measured nevertheless
		m.Wrong = err.Error()
	}
	r.add(m, cost)
	return nil
}

// abandoned reports whether an earlier round showed that the command cannot be measured.
func (r *Runner) abandoned(m Result) bool {
	return slices.ContainsFunc(r.Results, func(o Result) bool {
		return o.Note != "" && o.Command == m.Command && o.Temperature == m.Temperature && o.Store == m.Store && o.Program == m.Program
	})
}

func (r *Runner) compare(name string, s Store, p Program, c content) string {
	key := s.Name + "\x00" + name
	if r.wants[key] == nil {
		r.wants[key] = answers{}
	}
	return r.wants[key].difference(r.Programs, p, c)
}

// once starts a server, runs the operation and ends the server. The content is nil if the answer was too large
// to keep. note says why nothing was measured.
func (r *Runner) once(ctx context.Context, o operation, p Program, s Store, t Temperature, keep bool) (cost child.Cost, c content, note string, err error) {
	v, err := r.visit(ctx, o, p, s, t)
	if err != nil {
		return cost, nil, "", err
	}
	defer v.server.Kill()
	if !v.server.Offers(o.command, o.needs) {
		return cost, nil, "not offered", nil
	}
	a, cost, err := v.run(o, keep)
	if err != nil {
		return cost, nil, "", err
	}
	switch {
	case a.Kind != "" && o.answer == nil:
		return cost, "error " + a.Kind, "error " + a.Kind, nil
	case a.Result == nil && a.Digest == "" && a.Kind == "":
		return cost, nil, "", nil
	case o.answer != nil:
		c, err = o.answer(v, a)
	default:
		c, err = stable(a, v.dir)
	}
	if err == nil {
		err = r.check(o, s, a)
	}
	return cost, c, "", errors.Join(err, v.server.Close())
}

// run runs the command as often as it is repeated, and returns the last answer and the cost of one call.
func (v *visit) run(o operation, keep bool) (a child.Answer, cost child.Cost, err error) {
	if o.repeat == 0 {
		return v.server.Measure(o.command, o.arguments(v), keep)
	}
	var walls []time.Duration
	for range o.repeat {
		var one child.Cost
		if a, one, err = v.server.Measure(o.command, o.arguments(v), keep); err != nil {
			return a, cost, err
		}
		walls = append(walls, one.Wall)
		cost.CPU += one.CPU
		cost.Peak = max(cost.Peak, one.Peak)
		cost.Bytes = one.Bytes
	}
	cost.Wall = middle(walls)
	cost.CPU /= time.Duration(o.repeat)
	return a, cost, nil
}

// check compares an answer with the facts of the generator, which shares no code with the program.
func (r *Runner) check(o operation, s Store, a child.Answer) error {
	if s.Facts == nil || a.Result == nil || o.changes {
		return nil
	}
	facts := s.Facts.Sessions[0]
	var got struct {
		Session struct {
			LeafID       string
			MessageCount int
		}
		LeafID  string
		Context struct{ Messages []json.RawMessage }
		Entries json.RawMessage
		Nodes   []json.RawMessage
	}
	if err := json.Unmarshal(a.Result, &got); err != nil {
		return err
	}
	want, have := "", ""
	switch o.name {
	case "resume", "continue":
		want, have = fmt.Sprint(facts.LeafID, facts.Context), fmt.Sprint(got.Session.LeafID, got.Session.MessageCount)
	case "context", "context of a file":
		want, have = fmt.Sprint(facts.LeafID, facts.Context), fmt.Sprint(got.LeafID, len(got.Context.Messages))
	case "stats", "stats again", "stats of a file":
		want, have = fmt.Sprint(facts.Entries), string(got.Entries)
	case "tree":
		want, have = fmt.Sprint(facts.LeafID, facts.Entries), fmt.Sprint(got.LeafID, len(got.Nodes))
	}
	if want != have {
		return fmt.Errorf("%s: %s instead of %s", o.name, have, want)
	}
	return nil
}

// contextAnswer returns the messages of an answer of xcsh.context in the form of the peers' drivers.
func contextAnswer(result json.RawMessage) bench.Answer {
	var lines []string
	rawjson.Elements(rawjson.Get(result, "context", "messages"), func(m []byte) bool {
		role, _ := rawjson.GetString(m, "role")
		lines = append(lines, role+" "+strings.TrimSpace(string(rawjson.Get(m, "timestamp"))))
		return true
	})
	return bench.AnswerOf(lines)
}
