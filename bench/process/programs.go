package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"github.com/xcsh-ls/xcsh-ls/bench/peers"
)

// programs are the commands to run.
type programs struct {
	work    string // scratch, removed at the end
	cli     string // xcsh-ls itself
	drive   string
	peers   map[string][]string // by name: how its driver is run
	piCLI   []string
	tools   map[string]string // rg, grep, cp, wc, if installed
	missing []string
	stores  map[string]store
}

// store is drive's description of a store.
type store struct {
	Home, Path, Cwd, Prefix string
	Files, Context          int
	Bytes                   int64
}

func onPath(name string) (string, bool) {
	path, err := exec.LookPath(name)
	return path, err == nil
}

// findPrograms builds ours and looks for the others.
func findPrograms(ctx context.Context, work string) (*programs, error) {
	p := &programs{work: work, peers: map[string][]string{}, tools: map[string]string{}, stores: map[string]store{}}
	for name, pkg := range map[string]string{"xcsh-ls": "./cmd/xcsh-ls", "drive": "./bench/drive"} {
		bin := filepath.Join(work, name)
		if runtime.GOOS == "windows" {
			bin += ".exe"
		}
		build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", bin, pkg)
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("run this from the top of the checkout: %w: %s", err, out)
		}
		if name == "drive" {
			p.drive = bin
		} else {
			p.cli = bin
		}
	}
	for _, name := range []string{"wc", "cp", "rg", "grep"} {
		if path, ok := onPath(name); ok {
			p.tools[name] = path
		} else {
			p.missing = append(p.missing, name)
		}
	}
	p.findPeers()
	return p, nil
}

// findPeers looks into the directory of bench/peers/install.sh.
func (p *programs) findPeers() {
	dir, err := filepath.Abs(filepath.Join("bench", "peers"))
	if err != nil {
		return
	}
	found, missing := peers.Find(dir)
	p.missing = append(p.missing, missing...)
	for _, peer := range found {
		p.peers[peer.Name] = peer.Driver
		if peer.CLI != nil {
			p.piCLI = peer.CLI
		}
	}
}

// store returns the named store and generates it if it is missing.
func (p *programs) store(ctx context.Context, name string) (s store, err error) {
	if s, ok := p.stores[name]; ok {
		return s, nil
	}
	_, out, err := once(ctx, []string{p.drive, "store", name}, nil)
	if err == nil {
		err = json.Unmarshal([]byte(out), &s)
	}
	p.stores[name] = s
	return s, err
}
