package suite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/xcsh-ls/xcsh-ls/bench/wire/child"
	"github.com/xcsh-ls/xcsh-ls/bench/wire/limit"
)

// perPrompt is how many entries the script's turn has: a prompt, a tool call, its result and an answer.
const perPrompt = 4

// Append measures n entries: those of turns of the offline script, labels, and the same number of entries in the peers and of
// lines that are only written. s is the session that peers append to.
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
	for _, peer := range r.Peers {
		if s.Path == "" {
			break
		}
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

func (r *Runner) appendOf(ctx context.Context, p Program, n int) (err error) {
	v, err := r.empty(ctx, p, "append")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.discard(v.s)) }()
	defer v.server.Kill()
	prompt := operation{command: "xcsh.prompt", args: with(map[string]any{"text": "What is in this folder?"})}
	if err := v.each("append, entry of a turn", prompt, n/perPrompt, perPrompt); err != nil {
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

// each runs an operation repeatedly and adds the cost of one entry. CPU time is measured over all calls.
func (v *visit) each(name string, o operation, calls, entries int) error {
	before, begin := v.server.CPU(), time.Now()
	var cost child.Cost
	for range calls {
		a, one, err := v.server.Measure(o.command, o.arguments(v), true)
		if err == nil && a.Kind != "" {
			err = errors.New(a.Text)
		}
		if err != nil {
			return err
		}
		cost.Peak = max(cost.Peak, one.Peak)
	}
	total := time.Duration(calls * entries)
	cost.Wall, cost.CPU = time.Since(begin)/total, (v.server.CPU()-before)/total
	v.r.add(Result{Command: name, Temperature: Live, Program: v.p.Name}, cost)
	return nil
}
