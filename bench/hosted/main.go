// Command hosted measures the cost of the user's own agent answering in an editor: pi alone, in its RPC mode, and the same pi as the
// engine of the built server, with a model's service on this machine.
//
//	go run ./bench/hosted                          all, with pi and with its double; about ten minutes
//	go run ./bench/hosted -write bench/README.md   the same, into the generated part of a file
//	go run ./bench/hosted -engines double -big 1   some of it
//
// It prints progress on standard error and tables on standard output. pi is the one that bench/peers/install.sh installs. A run fails if the
// client of the server sees another text than that of pi.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/xcsh-ls/xcsh-ls/bench/corpus/gen"
	"github.com/xcsh-ls/xcsh-ls/bench/hosted/suite"
	"github.com/xcsh-ls/xcsh-ls/bench/peers"
	"github.com/xcsh-ls/xcsh-ls/bench/section"
)

// options are the command line.
type options struct {
	server, engines, write string

	pairs, rounds, big, pieces, session int
}

func main() {
	var o options
	flag.StringVar(&o.server, "server", "", "the binary to measure (default: built from this checkout)")
	flag.StringVar(&o.engines, "engines", "pi,double", "what to measure with, separated by commas")
	flag.StringVar(&o.write, "write", "", "replace the generated part of this file by the tables")
	flag.IntVar(&o.pairs, "pairs", 100, "short prompts of each program")
	flag.IntVar(&o.rounds, "rounds", 7, "measurements of everything else")
	flag.IntVar(&o.big, "big", 5, "the size of the large answer in MB")
	flag.IntVar(&o.pieces, "pieces", 10_000, "pieces of the answer in many pieces")
	flag.IntVar(&o.session, "session", 100, "the size of the large session in MB, one of those of bench/corpus; 0 leaves it out")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "hosted:", err)
		stop()
		os.Exit(1)
	}
}

func run(ctx context.Context, o options) (err error) {
	work, err := os.MkdirTemp("", "xcsh-ls-hosted-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	if work, err = filepath.EvalSymlinks(work); err != nil {
		return err
	}
	c := suite.Config{
		Server: o.server, Work: work, Pairs: o.pairs, Rounds: o.rounds, Big: o.big * 1e6, Pieces: o.pieces, Quiet: 60 * time.Millisecond,
		Log: func(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) },
	}
	if c.Server == "" {
		if c.Server, err = build(ctx, work, "./cmd/xcsh-ls"); err != nil {
			return err
		}
	}
	if c.Server, err = filepath.Abs(c.Server); err != nil {
		return err
	}
	for name := range strings.SplitSeq(o.engines, ",") {
		e, err := engine(ctx, name, work, o.session)
		if err != nil {
			return err
		}
		c.Engines = append(c.Engines, e)
	}
	begun := time.Now()
	r, failed := suite.Run(ctx, c) // the figures before an error are printed
	var report strings.Builder
	fmt.Fprintf(&report, "%s/%s with %d CPUs, %s; %s.\n\n", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version(), load(time.Since(begun)))
	r.Markdown(&report)
	fmt.Print(report.String())
	if o.write != "" && failed == nil {
		failed = section.Replace(o.write, generated, end, report.String())
	}
	return failed
}

// engine finds an agent. The double gets no large session, because it takes much longer than pi to read one.
func engine(ctx context.Context, name, work string, mb int) (suite.Engine, error) {
	if name == "double" {
		path, err := build(ctx, work, "./agent/engine/enginetest/double")
		return suite.Engine{Name: "the double of pi", Argv: []string{path}}, err
	}
	dir, err := filepath.Abs(filepath.Join("bench", "peers"))
	if err != nil {
		return suite.Engine{}, err
	}
	found, _ := peers.Find(dir)
	for _, p := range found {
		if p.Name == name && p.CLI != nil {
			path, err := session(mb)
			return suite.Engine{Name: p.Name, Argv: p.CLI, Session: path}, err
		}
	}
	return suite.Engine{}, fmt.Errorf("%s is not installed; run bench/peers/install.sh, or measure with -engines double", name)
}

// session returns a generated session of pi.
func session(mb int) (string, error) {
	if mb == 0 {
		return "", nil
	}
	cache, err := gen.CacheDir()
	if err != nil {
		return "", err
	}
	home, m, err := gen.Cached(cache, gen.Sized(gen.Pi, mb))
	if err != nil {
		return "", err
	}
	return filepath.Join(home, m.Sessions[0].Path), nil
}

// build builds a program as a release.
func build(ctx context.Context, work, program string) (string, error) {
	path := filepath.Join(work, filepath.Base(program))
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", path, program)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("run this from the top of the checkout: %w: %s", err, out)
	}
	return path, nil
}

// The lines around the generated part of a file.
const (
	generated = "<!-- generated: go run ./bench/hosted -write bench/README.md -->\n"
	end       = "<!-- end of generated by hosted -->\n"
)

// load describes the other work of the machine.
func load(took time.Duration) string {
	average, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return fmt.Sprintf("a run of %v", took.Round(time.Second))
	}
	return fmt.Sprintf("load %s at the end of a run of %v", strings.Join(strings.Fields(string(average))[:3], ", "), took.Round(time.Second))
}
