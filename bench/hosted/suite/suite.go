// Package suite measures the cost of the user's own agent answering in an editor: the same prompts go to the agent alone, over its
// RPC mode, and to the built server, which runs that agent as its engine. The programs take turns, so that other load on the machine
// affects all of them, and the texts that their clients see are compared.
package suite

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/xcsh-ls/xcsh-ls/bench/hosted/model"
)

// Engine is an agent to measure with: the real pi, or its double.
type Engine struct {
	Name string
	Argv []string // the beginning of its command line

	Session string // a large session of pi to continue; "" leaves that out
}

// Config is the configuration of a run.
type Config struct {
	Server  string // the built server
	Engines []Engine
	Work    string        // an empty directory for everything that is written
	Pairs   int           // prompts for the time until the first piece, of each program
	Rounds  int           // of every other measurement
	Big     int           // bytes of the large answer
	Pieces  int           // pieces of the answer in many pieces
	Quiet   time.Duration // how long programs must be idle before and after a prompt; see the client of bench/wire
	Log     func(format string, args ...any)
}

// Runner measures and keeps the results. Its methods are for one goroutine.
type Runner struct {
	Config

	service *model.Service
	worlds  int
	results []result
}

// result is the cost of one prompt by one program, once for each time that it was measured.
type result struct {
	what    string
	engine  string
	program program
	turns   []turn
}

// program is who answers.
type program string

// The programs.
const (
	hosted program = "xcsh-ls with it" // the server with the agent as its engine
	alone  program = "alone"           // the agent in its RPC mode
	own    program = "xcsh-ls itself"  // the server with its own loop
	none   program = "no prompt"       // the server before a prompt
)

// Run measures everything with every engine. The figures before an error are kept.
func Run(ctx context.Context, c Config) (r *Runner, err error) {
	if c.Log == nil {
		c.Log = func(string, ...any) {}
	}
	r = &Runner{Config: c}
	if r.service, err = model.Start(ctx); err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, r.service.Close()) }()
	for _, e := range c.Engines {
		for _, measure := range []func(context.Context, Engine) error{r.first, r.large, r.many, r.memory, r.start, r.reopened} {
			if err := measure(ctx, e); err != nil {
				return r, fmt.Errorf("%s: %w", e.Name, err)
			}
		}
	}
	return r, nil
}

// The measurements.
const (
	firstPiece   = "prompt to the first piece"
	largeAnswer  = "large answer"
	manyPieces   = "answer in many pieces"
	shortAnswer  = "first prompt of a server" // for its memory
	startOfAgent = "start to the first piece"
	oldSession   = "large session to the first piece"
)

// hello asks for a short answer. Its pieces come as those of a fast service do, so that one that waits for the next one is seen.
const hello = "[[slow:20]] [[say:Hello, this is a short answer.]]"

// first measures the time from a prompt to the first piece of the answer, in sessions that both programs have open.
func (r *Runner) first(ctx context.Context, e Engine) (err error) {
	var open []contestant
	defer func() { err = errors.Join(err, closeAll(open)) }()
	for _, p := range []program{hosted, alone} {
		c, err := r.open(ctx, e, p, "")
		if err != nil {
			return err
		}
		open = append(open, c)
		for range 3 {
			if _, err := c.prompt(hello); err != nil {
				return err
			}
		}
	}
	for i := range r.Pairs {
		order := []int{i % 2, 1 - i%2}
		for _, which := range order {
			t, err := open[which].prompt(hello)
			if err != nil {
				return err
			}
			r.add(firstPiece, e, []program{hosted, alone}[which], t)
		}
	}
	return r.compare(firstPiece, e)
}

// large measures a long answer in large pieces.
func (r *Runner) large(ctx context.Context, e Engine) error {
	return r.answers(ctx, e, largeAnswer, fmt.Sprintf("[[big:%d]]", r.Big), hosted, alone, own)
}

// many measures an answer in many small pieces.
func (r *Runner) many(ctx context.Context, e Engine) error {
	return r.answers(ctx, e, manyPieces, fmt.Sprintf("[[pieces:%d]]", r.Pieces), hosted, alone, own)
}

// answers measures one prompt by programs that have just answered another one.
func (r *Runner) answers(ctx context.Context, e Engine, what, prompt string, programs ...program) error {
	err := r.inTurn(programs, func(p program) (err error) {
		c, err := r.open(ctx, e, p, "")
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, c.close()) }()
		if _, err := c.prompt(hello); err != nil {
			return err
		}
		t, err := c.prompt(prompt)
		if err == nil {
			r.add(what, e, p, t)
		}
		return err
	})
	return errors.Join(err, r.compare(what, e))
}

// memory measures the server without a prompt, and after its first one.
func (r *Runner) memory(ctx context.Context, e Engine) error {
	return r.inTurn([]program{none, own, hosted}, func(p program) (err error) {
		c, err := r.open(ctx, e, p, "")
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, c.close()) }()
		t := turn{resident: c.resident()}
		t.peak = t.resident
		if p != none {
			if t, err = c.prompt(hello); err != nil {
				return err
			}
			t.resident = c.resident()
		}
		r.add(shortAnswer, e, p, t)
		return nil
	})
}

// start measures the time from a prompt to the first piece if the agent is not running yet.
func (r *Runner) start(ctx context.Context, e Engine) error {
	return r.fromStart(ctx, e, startOfAgent, "")
}

// reopened measures the same in a large session.
func (r *Runner) reopened(ctx context.Context, e Engine) error {
	if e.Session == "" {
		return nil
	}
	return r.fromStart(ctx, e, oldSession, e.Session)
}

func (r *Runner) fromStart(ctx context.Context, e Engine, what, session string) error {
	places := map[program]string{}
	return r.inTurn([]program{hosted, alone}, func(p program) (err error) {
		root := places[p]
		if root == "" { // the first start of each is not measured: it finds the program, and remembers it
			if root, err = r.newRoot(e, session); err != nil {
				return err
			}
			places[p] = root
			if _, err := r.startOnce(ctx, e, p, root, session != ""); err != nil {
				return err
			}
		}
		t, err := r.startOnce(ctx, e, p, root, session != "")
		if err == nil {
			r.add(what, e, p, t)
		}
		return err
	})
}

// startOnce starts a program and returns the cost of its first prompt. That of the server begins with the prompt, because a server is
// there before somebody writes one, and that of the agent with its process.
func (r *Runner) startOnce(ctx context.Context, e Engine, p program, root string, reopen bool) (t turn, err error) {
	begin := time.Now()
	c, err := r.openIn(ctx, e, p, root, reopen)
	if err != nil {
		return t, err
	}
	defer func() { err = errors.Join(err, c.close()) }()
	if a, ok := c.(*agent); ok {
		t, err = a.promptNow(hello)
		late := t.begun.Sub(begin)
		t.first, t.wall = t.first+late, t.wall+late
		return t, err
	}
	return c.prompt(hello)
}

// inTurn calls f for every program in every round, in the reverse order in every other one.
func (r *Runner) inTurn(programs []program, f func(p program) error) error {
	for round := range r.Rounds {
		order := slices.Clone(programs)
		if round%2 == 1 {
			slices.Reverse(order)
		}
		for _, p := range order {
			if err := f(p); err != nil {
				return fmt.Errorf("%s: %w", p, err)
			}
		}
	}
	return nil
}

// open starts a program for a user of its own.
func (r *Runner) open(ctx context.Context, e Engine, p program, session string) (contestant, error) {
	root, err := r.newRoot(e, session)
	if err != nil {
		return nil, err
	}
	return r.openIn(ctx, e, p, root, session != "")
}

func (r *Runner) newRoot(e Engine, session string) (string, error) {
	r.worlds++
	root := filepath.Join(r.Work, fmt.Sprint(r.worlds))
	return root, settle(root, e, r.service.URL, session)
}

// add keeps a turn.
func (r *Runner) add(what string, e Engine, p program, t turn) {
	r.Log("%s, %s, %s: first piece after %v, end after %v, CPU %v, peak %d KB, idle %d KB", e.Name, what, p,
		t.first.Round(100*time.Microsecond), t.wall.Round(100*time.Microsecond), t.cpu.Round(100*time.Microsecond), t.peak>>10, t.resident>>10)
	for i := range r.results {
		if m := &r.results[i]; m.what == what && m.engine == e.Name && m.program == p {
			m.turns = append(m.turns, t)
			return
		}
	}
	r.results = append(r.results, result{what, e.Name, p, []turn{t}})
}

// compare compares the texts that the clients of the agent and of the server with it have seen. The double has texts of its own, so the
// server's own loop is not compared.
func (r *Runner) compare(what string, e Engine) error {
	a, b := r.of(what, e.Name, hosted), r.of(what, e.Name, alone)
	for i := range min(len(a), len(b)) {
		if a[i].text != b[i].text || a[i].pieces == 0 {
			return fmt.Errorf("%s: the texts differ: %d pieces, %d bytes, and %d pieces, %d bytes", what, a[i].pieces, a[i].bytes, b[i].pieces, b[i].bytes)
		}
	}
	return nil
}

// of returns the turns of a program.
func (r *Runner) of(what, engine string, p program) []turn {
	for _, m := range r.results {
		if m.what == what && m.engine == engine && m.program == p {
			return m.turns
		}
	}
	return nil
}

func closeAll(open []contestant) (err error) {
	for _, c := range open {
		err = errors.Join(err, c.close())
	}
	return err
}
