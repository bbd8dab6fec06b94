package suite

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/xcsh-ls/xcsh-ls/bench/corpus/gen"
	"github.com/xcsh-ls/xcsh-ls/bench/wire/child"
	"github.com/xcsh-ls/xcsh-ls/bench/wire/limit"
)

// The names of limits, which goals refer to.
const (
	scanOne  = "limit: read, find newlines, one thread"
	scanTwo  = "limit: read, find newlines, two threads"
	copyOnly = "limit: copy the file (cp)"
	copySync = "limit: copy the file and sync the copy"
	statOnly = "limit: getdents and statx"
	findOnly = "limit: read every file, find a word, two threads"
	findRg   = "rg: find a word"
)

// FileLimits measures what the machine needs for a session's file.
func (r *Runner) FileLimits(stores ...Store) error {
	work, err := made(filepath.Join(r.Work, "limit"))
	if err != nil {
		return err
	}
	for _, s := range stores {
		for threads, name := range []string{scanOne, scanTwo} {
			r.limit(name, s.Name, func() (time.Duration, error) {
				_, took, err := limit.Lines(s.Path, threads+1)
				return took, err
			})
		}
		for _, name := range []string{copyOnly, copySync} {
			r.limit(name, s.Name, func() (time.Duration, error) {
				return limit.Copy(s.Path, filepath.Join(work, "copy"), name == copySync)
			})
		}
	}
	return nil
}

// ListLimits measures what the machine needs for the files of a store.
func (r *Runner) ListLimits(ctx context.Context, s Store) {
	r.limit(statOnly, s.Name, func() (time.Duration, error) {
		n, took, err := limit.Status(s.roots())
		if err == nil && n != len(s.Facts.Sessions) {
			err = fmt.Errorf("%d files", n)
		}
		return took, err
	})
	r.limit(findOnly, s.Name, func() (time.Duration, error) {
		n, took, err := limit.Find(s.roots(), gen.Needle, 2)
		if err == nil && n != s.Facts.Preset.Needles {
			err = fmt.Errorf("%d files", n)
		}
		return took, err
	})
	rg, err := exec.LookPath("rg")
	if err != nil {
		r.Log("%s: %v", findRg, err)
		return
	}
	r.limit(findRg, s.Name, func() (time.Duration, error) { return ripgrep(ctx, rg, s) })
}

// ripgrep returns how long rg takes to find the files with a word, from the start of its process to its end.
func ripgrep(ctx context.Context, rg string, s Store) (time.Duration, error) {
	args := append([]string{"--no-config", "--no-ignore", "--hidden", "--threads", "2", "--files-with-matches", "--fixed-strings", gen.Needle}, s.roots()...)
	begin := time.Now()
	out, err := exec.CommandContext(ctx, rg, args...).Output()
	took := time.Since(begin)
	if n := bytes.Count(out, []byte("\n")); err == nil && n != s.Facts.Preset.Needles {
		err = fmt.Errorf("%d files", n)
	}
	return took, err
}

// Peer operations, as drive.mjs names them.
const (
	peerOpen   = "open"
	peerList   = "list"
	peerSearch = "search"
	peerFork   = "fork"
)

// OpenPeers measures how long the peers take to open and to fork the session of a store, and compares the context with the
// one over the wire.
func (r *Runner) OpenPeers(ctx context.Context, s Store) error {
	want, err := r.context(ctx, s)
	if err != nil {
		return err
	}
	r.peers(ctx, s, peerOpen, want, s.Path)
	r.peers(ctx, s, peerFork, "", s.Path, s.Cwd)
	return nil
}

// ListPeers measures how long the peers take to list and to search the sessions of a store.
func (r *Runner) ListPeers(ctx context.Context, s Store) {
	r.peers(ctx, s, peerList, "")
	r.peers(ctx, s, peerSearch, "", gen.Needle)
}

// peers measures one operation of each. Of another answer than wanted, a note is kept.
func (r *Runner) peers(ctx context.Context, s Store, operation, want string, args ...string) {
	for _, peer := range r.Peers {
		if peer.Name == "pi" && s.Facts.Preset.Flavour == gen.Omp {
			continue // which it cannot read
		}
		scratch := filepath.Join(r.Work, "peer")
		name := peer.Name + ": " + operation
		r.limit(name, s.Name, func() (time.Duration, error) {
			result, err := peer.Run(ctx, s.Home, scratch, want != "", operation, args...)
			if err == nil && want != "" && string(result.Answer) != want {
				r.Limits = append(r.Limits, Limit{Name: name, Store: s.Name, Note: "DIFFERS: " + string(result.Answer) + " instead of " + want})
			}
			return result.Took(), err
		})
	}
}

// context returns the context over the wire, in the form of the peers' drivers.
func (r *Runner) context(ctx context.Context, s Store) (string, error) {
	if len(r.Peers) == 0 {
		return "", nil
	}
	server, err := r.start(ctx, operation{}, r.Programs[0], s, s.Cwd, false)
	if err != nil {
		return "", err
	}
	defer server.Kill()
	a, err := server.Call("xcsh.context", map[string]any{"source": s.Path})
	if err != nil || a.Result == nil {
		return "", err // of an answer that is not kept, the digest is of no use
	}
	answer, err := json.Marshal(contextAnswer(a.Result))
	return string(answer), errors.Join(err, server.Close())
}

// Start measures the start of each program, until initialize is answered.
func (r *Runner) Start(ctx context.Context, s Store) error {
	if !r.selects("start") {
		return nil
	}
	return r.inTurn(func(p Program) error {
		if _, err := made(r.dir(p, s, "agent")); err != nil {
			return err
		}
		server, cost, err := child.Start(ctx, child.Config{Program: p.Path, Home: s.Home, AgentDir: r.dir(p, s, "agent"), Folder: s.Cwd})
		if err != nil {
			return err
		}
		r.add(Result{Command: "start", Temperature: Warm, Store: s.Name, Program: p.Name}, cost)
		return server.Close()
	})
}
