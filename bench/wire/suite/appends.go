package suite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/xcsh-ls/xcsh-ls/bench"
	"github.com/xcsh-ls/xcsh-ls/bench/wire/child"
	"github.com/xcsh-ls/xcsh-ls/bench/wire/limit"
)

// perPrompt is how many entries the script's turn has: a prompt, a tool call, its result and an answer.
const perPrompt = 4

// The names of rows that goals refer to.
const (
	appendAlone = "append, engine"
	appendTurn  = "append, entry of a turn"
	appendLong  = "append, entry of a long turn"
)

// Append measures n entries: those of turns of the offline script, of one long turn, labels, and the same number of entries in
// the engine alone, in the peers and of lines that are only written. s is the session that the engine and the peers append to.
func (r *Runner) Append(ctx context.Context, s Store, n int) error {
	if !r.selects("append") {
		return nil
	}
	if err := r.inTurn(func(p Program) error { return r.appendOf(ctx, p, n) }); err != nil {
		return fmt.Errorf("append: %w", err)
	}
	work, err := made(filepath.Join(r.Work, "limit"))
	if err != nil {
		return err
	}
	for _, sync := range []bool{false, true} {
		name := "append, write"
		if sync {
			name = "append, write and fsync"
		}
		r.limit(name, "", func() (time.Duration, error) {
			took, err := limit.Write(filepath.Join(work, "lines"), n, 300, sync)
			return took / time.Duration(n), err
		})
	}
	if s.Path == "" {
		return nil
	}
	r.limit(appendAlone, "", func() (time.Duration, error) {
		path := filepath.Join(work, filepath.Base(s.Path))
		if err := copyFile(path, s.Path); err != nil {
			return 0, err
		}
		took, err := alone(bench.New(s.Home, filepath.Join(work, "engine")), path, n)
		return took / time.Duration(n), errors.Join(err, os.Remove(path))
	})
	for _, peer := range r.Peers {
		r.limit("append, "+peer.Name, "", func() (time.Duration, error) {
			scratch := filepath.Join(work, peer.Name)
			path := filepath.Join(work, filepath.Base(s.Path))
			if err := copyFile(path, s.Path); err != nil {
				return 0, err
			}
			result, err := peer.Run(ctx, s.Home, scratch, false, "append", path, strconv.Itoa(n))
			empty, emptyErr := peer.Run(ctx, s.Home, scratch, false, "append", path, "0") // opening the session
			took := result.Took() - empty.Took()
			return took / time.Duration(n), errors.Join(err, emptyErr, os.Remove(path))
		})
	}
	return nil
}

// alone measures n appends without the time to open the session, as for the peers.
func alone(kit bench.Kit, path string, n int) (time.Duration, error) {
	begin := time.Now()
	err := kit.Append(path, 0, 0)
	empty := time.Since(begin)
	begin = time.Now()
	err = errors.Join(err, kit.Append(path, n, 0))
	return time.Since(begin) - empty, err
}

func (r *Runner) appendOf(ctx context.Context, p Program, n int) (err error) {
	v, err := r.empty(ctx, p, "append")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.discard(v.s)) }()
	defer v.server.Kill()
	prompt := operation{command: "xcsh.prompt", args: with(map[string]any{"text": "What is in this folder?"})}
	if err := v.each(appendTurn, prompt, n/perPrompt, perPrompt); err != nil {
		return err
	}
	if err := v.longTurn(n); err != nil {
		return err
	}
	a, err := v.call("xcsh.state", nil)
	if err == nil {
		v.leaf, err = leafOf(a)
	}
	if err == nil {
		err = v.each("append, label", operation{command: "xcsh.label", args: label}, n, 1)
	}
	if err != nil {
		return err
	}
	return v.server.Close()
}

// turns is how many turns of each length a long turn is measured with.
const turns = 5

// longTurn adds the cost of one further entry of a turn: the difference between turns of n entries, whose script calls its tool
// once per answer, and turns of a few.
func (v *visit) longTurn(n int) error {
	var costs [2]child.Cost
	for i, calls := range []int{1, n/2 - 1} {
		prompt := operation{command: "xcsh.prompt", args: with(map[string]any{"text": fmt.Sprintf("repeat %d: What is in this folder?", calls)})}
		cost, err := v.repeated(prompt, turns)
		if err != nil {
			return err
		}
		costs[i] = cost
	}
	further := time.Duration(turns * (n/2*2 - perPrompt))
	cost := child.Cost{Wall: (costs[1].Wall - costs[0].Wall) / further, CPU: (costs[1].CPU - costs[0].CPU) / further, Peak: costs[1].Peak}
	v.r.add(Result{Command: appendLong, Temperature: Live, Program: v.p.Name}, cost)
	return nil
}

// each runs an operation repeatedly and adds the cost of one entry. CPU time is measured over all calls.
func (v *visit) each(name string, o operation, calls, entries int) error {
	cost, err := v.repeated(o, calls)
	if err != nil {
		return err
	}
	total := time.Duration(calls * entries)
	cost.Wall, cost.CPU = cost.Wall/total, cost.CPU/total
	v.r.add(Result{Command: name, Temperature: Live, Program: v.p.Name}, cost)
	return nil
}

// repeated runs an operation repeatedly and returns the cost of all calls.
func (v *visit) repeated(o operation, calls int) (cost child.Cost, err error) {
	before := v.server.CPU()
	for range calls {
		a, one, err := v.server.Measure(o.command, o.arguments(v), true)
		if err == nil && a.Kind != "" {
			err = errors.New(a.Text)
		}
		if err != nil {
			return cost, err
		}
		cost.Wall += one.Wall
		cost.Peak = max(cost.Peak, one.Peak)
	}
	cost.CPU = v.server.CPU() - before
	return cost, nil
}
