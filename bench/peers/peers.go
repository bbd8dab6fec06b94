// Package peers finds the programs for comparison that install.sh installs, and drives them.
package peers

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Peer is an installed program.
type Peer struct {
	Name   string
	Driver []string // the beginning of the command line of drive.mjs
	CLI    []string // of the program itself; nil if drive.mjs can do the same
}

// Find looks for the programs below bench/peers, the directory of install.sh. A missing runtime is taken from PATH.
// missing names the programs that are not installed.
func Find(dir string) (found []Peer, missing []string) {
	modules := filepath.Join(dir, "node_modules")
	for _, p := range []struct{ name, runtime, installed, entry string }{
		{"pi", "node", "node-*/bin/node", "@earendil-works/pi-coding-agent/dist/bundle/cli.js"},
		{"omp", "bun", "@oven/bun-*/bin/bun", "@oh-my-pi/pi-coding-agent/src/session/session-manager.ts"},
	} {
		run, err := exec.LookPath(p.runtime)
		if all, _ := filepath.Glob(filepath.Join(modules, filepath.FromSlash(p.installed))); len(all) > 0 {
			run, err = all[0], nil
		}
		entry := filepath.Join(modules, filepath.FromSlash(p.entry))
		if _, statErr := os.Stat(entry); statErr != nil || err != nil {
			missing = append(missing, p.name+" (see bench/peers/install.sh)")
			continue
		}
		peer := Peer{Name: p.name, Driver: []string{run, filepath.Join(dir, "drive.mjs"), p.name}}
		if p.name == "pi" {
			peer.CLI = []string{run, entry}
		}
		found = append(found, peer)
	}
	return found, missing
}

// Result is what drive.mjs prints.
type Result struct {
	Ms     float64         `json:"ms"` // of the operation, without the start of the program
	Answer json.RawMessage `json:"answer"`
}

// Took is the time of the operation.
func (r Result) Took() time.Duration { return time.Duration(r.Ms * float64(time.Millisecond)) }

// Run performs an operation on the store in home with an empty scratch directory. With check, the result has the answer.
func (p Peer) Run(ctx context.Context, home, scratch string, check bool, operation string, args ...string) (r Result, err error) {
	if err := errors.Join(os.RemoveAll(scratch), os.MkdirAll(scratch, 0o700)); err != nil {
		return r, err
	}
	argv := slices.Clone(p.Driver)
	if check {
		argv = append(argv, "-check")
	}
	argv = append(append(argv, operation, home, scratch), args...)
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return r, fmt.Errorf("%s %s: %w: %s", p.Name, operation, err, reason(stderr.String()))
	}
	return r, json.Unmarshal([]byte(last(string(out))), &r)
}

func last(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1]
}

// reason returns the line with the error of a JavaScript program.
func reason(text string) string {
	for line := range strings.Lines(text) {
		if strings.Contains(line, "Error:") || strings.Contains(line, "error:") {
			return strings.TrimSpace(line)
		}
	}
	return last(text)
}
