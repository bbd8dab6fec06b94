package suite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/xcsh-ls/xcsh-ls/bench/wire/child"
)

// hundred is the cost of one of the parts into which the prompts of a session are divided.
type hundred struct {
	program   string
	from, to  int           // the numbers of the prompts, from 1
	wall, cpu time.Duration // medians of a prompt, and the mean
	peak      int64
	file      int64 // bytes of the session afterwards
}

// parts is into how many parts the prompts are divided.
const parts = 20

// Prompts sends n prompts to one session of each program, whose model is the offline script.
func (r *Runner) Prompts(ctx context.Context, n int) error {
	if !r.selects("prompts") {
		return nil
	}
	for _, p := range r.Programs {
		if err := r.promptsOf(ctx, p, n); err != nil {
			return fmt.Errorf("prompts, %s: %w", p.Name, err)
		}
	}
	return nil
}

func (r *Runner) promptsOf(ctx context.Context, p Program, n int) (err error) {
	v, err := r.empty(ctx, p, "prompts")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.discard(v.s)) }()
	defer v.server.Kill()
	size := max(1, n/parts)
	for from := 1; from <= n; from += size {
		h := hundred{program: p.Name, from: from, to: min(n, from+size-1)}
		var walls []time.Duration
		before := v.server.CPU()
		for range h.to - h.from + 1 {
			a, cost, err := v.server.Measure("xcsh.prompt", map[string]any{"text": "What is in this folder?"}, true)
			if err == nil {
				_, err = stopped(v, a)
			}
			if err != nil {
				return err
			}
			walls = append(walls, cost.Wall)
			h.peak = max(h.peak, cost.Peak)
		}
		h.wall, h.cpu = middle(walls), (v.server.CPU()-before)/time.Duration(len(walls))
		if h.file, err = v.size(); err != nil {
			return err
		}
		r.prompts = append(r.prompts, h)
		r.Log("prompts %d to %d, %s: %v, %v of CPU", h.from, h.to, p.Name, h.wall, h.cpu)
	}
	return v.server.Close()
}

// empty starts a server in an empty folder, with the offline script as the model.
func (r *Runner) empty(ctx context.Context, p Program, name string) (*visit, error) {
	s := Store{Name: name, Home: filepath.Join(r.Work, p.Name, name, "home")}
	folder := r.dir(p, s, "folder")
	for _, dir := range []string{s.Home, folder} {
		if _, err := made(dir); err != nil {
			return nil, err
		}
	}
	v := &visit{r: r, p: p, s: s, dir: r.dir(p, s)}
	server, _, err := child.Start(ctx, child.Config{
		Program: p.Path, Home: s.Home, AgentDir: filepath.Join(v.dir, "agent"), Folder: folder,
		Options: map[string]any{"model": "offline/demo"},
	})
	v.server = server
	return v, err
}

// size returns the size of the only session.
func (v *visit) size() (int64, error) {
	paths, err := filepath.Glob(filepath.Join(v.dir, "agent", "sessions", "*", "*.jsonl"))
	if err != nil || len(paths) != 1 {
		return 0, fmt.Errorf("%d sessions instead of one %w", len(paths), err)
	}
	info, err := os.Stat(paths[0])
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}
