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
)

// The names of rows that goals refer to. Cold is the first command of a session, whose look knows nothing yet; warm one that follows.
const (
	gitStatus   = "limit: git status -uall"
	nothingDone = "bash true, capture "
	oneChanged  = "bash that changes a file, capture "

	looking = "bash true, difference between all and off"
)

func (n ChangeSizes) treeStore() string { return fmt.Sprintf("%d files", n.Tree) }

// commands measures commands of the user in a repository, each after one without looks and a git status.
func (r *Runner) commands(ctx context.Context, n ChangeSizes) (err error) {
	folder, err := made(filepath.Join(r.Work, "repository"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	files := make(map[string][]byte, n.Tree)
	for i := range n.Tree {
		files[fmt.Sprintf("d%d/f%d", i/100, i)] = []byte(strconv.Itoa(i%50) + "\n")
	}
	if err := repository(ctx, folder, files); err != nil {
		return err
	}
	r.limit(gitStatus, n.treeStore(), func() (time.Duration, error) { return status(ctx, folder) })
	return r.inTurn(func(p Program) error { return r.commandsOf(ctx, p, folder, n) })
}

// status runs git status, as a user does.
func status(ctx context.Context, folder string) (time.Duration, error) {
	begin := time.Now()
	err := git(ctx, folder, "status", "--porcelain", "-uall")
	return time.Since(begin), err
}

func (r *Runner) commandsOf(ctx context.Context, p Program, folder string, n ChangeSizes) (err error) {
	s := Store{Name: n.treeStore()}
	defer func() { err = errors.Join(err, r.discard(s)) }()
	all, err := r.working(ctx, p, s, folder, captureAll, captureAll)
	if err != nil {
		return err
	}
	defer all.server.Kill()
	off, err := r.working(ctx, p, s, folder, captureOff, captureOff)
	if err != nil {
		return err
	}
	defer off.server.Kill()
	if !all.records() {
		r.Log("%s does not record changes", p.Name)
		return nil
	}
	if err := r.pair(ctx, all, off, nothingDone, Cold, with(map[string]any{"command": "true"}), 1); err != nil {
		return err
	}
	if err := r.pair(ctx, all, off, nothingDone, Warm, with(map[string]any{"command": "true"}), n.Commands); err != nil {
		return err
	}
	if err := r.pair(ctx, all, nil, oneChanged, Warm, with(map[string]any{"command": "echo x >>d0/f1"}), n.Commands); err != nil {
		return err
	}
	a, err := all.call(changesCommand, map[string]any{"since": "session"})
	if err != nil {
		return err
	}
	if files, _, err := changedFiles(a); err != nil || files != 1 {
		return fmt.Errorf("%d changed files instead of one %w", files, err)
	}
	if err := git(ctx, folder, "checkout", "--", "."); err != nil {
		return err
	}
	return closeAll(all, off)
}

// pair measures a command with and without looks, in turn with git status, and the difference. off may be nil.
func (r *Runner) pair(ctx context.Context, all, off *visit, name string, t Temperature, args func(*visit) map[string]any, times int) error {
	costs := map[*visit][]child.Cost{}
	var differences, statuses []time.Duration
	for i := range times {
		order := []*visit{all, off}
		if i%2 == 1 {
			order = []*visit{off, all}
		}
		for _, v := range order {
			if v == nil {
				continue
			}
			_, cost, err := v.succeeds(bashCommand, args(v))
			if err != nil {
				return err
			}
			costs[v] = append(costs[v], cost)
		}
		took, err := status(ctx, filepath.Join(r.Work, "repository"))
		if err != nil {
			return err
		}
		statuses = append(statuses, took)
		if off != nil {
			differences = append(differences, costs[all][i].Wall-costs[off][i].Wall)
		}
	}
	r.more(gitStatus, all.s.Name, statuses)
	for v, setting := range map[*visit]string{all: captureAll, off: captureOff} {
		if v != nil {
			r.add(Result{Command: name + setting, Temperature: t, Store: v.s.Name, Program: v.p.Name}, of(costs[v]))
		}
	}
	if off != nil {
		a, b := of(costs[all]), of(costs[off])
		r.add(Result{Command: looking, Temperature: t, Store: all.s.Name, Program: all.p.Name}, child.Cost{
			Wall: middle(differences), CPU: a.CPU - b.CPU, Peak: max(0, a.Peak-b.Peak),
		})
	}
	return nil
}

// of is the cost of one of several calls.
func of(costs []child.Cost) child.Cost {
	var cpu time.Duration
	for _, c := range costs {
		cpu += c.CPU
	}
	return summed(costs, cpu)
}

// more adds runs to a limit that was measured.
func (r *Runner) more(name, store string, runs []time.Duration) {
	for i := range r.Limits {
		if l := &r.Limits[i]; l.Name == name && l.Store == store {
			l.Runs = append(l.Runs, runs...)
			return
		}
	}
	r.Limits = append(r.Limits, Limit{Name: name, Store: store, Runs: runs})
}
