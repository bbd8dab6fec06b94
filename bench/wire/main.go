// Command wire measures the commands of a user over the wire: it starts the server as an editor does and measures each
// command in a server of its own, until the whole answer has arrived.
//
//	go run ./bench/wire -table >bench.md            everything, as Markdown
//	go run ./bench/wire -write bench/README.md      the same, into the generated part of a file
//	go run ./bench/wire -against OLD -parts growth  compared with another binary, in turn
//
// It prints progress on standard error and tables on standard output. An answer that differs between cold and warm starts, rounds
// or binaries, or from the facts of the generator, fails the run. Missing peers are named. After an interrupt it prints what it
// has measured.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"time"

	"github.com/xcsh-ls/xcsh-ls/bench/corpus/gen"
	"github.com/xcsh-ls/xcsh-ls/bench/peers"
	"github.com/xcsh-ls/xcsh-ls/bench/section"
	"github.com/xcsh-ls/xcsh-ls/bench/wire/suite"
)

// options are the command line.
type options struct {
	server, against, parts, run, sessions, write string

	rounds, prompts, most int
	changes               suite.ChangeSizes
	table                 bool
}

func main() {
	var o options
	flag.StringVar(&o.server, "server", "", "the binary to measure (default: built from this checkout)")
	flag.StringVar(&o.against, "against", "", "an older binary to alternate with")
	flag.StringVar(&o.parts, "parts", "growth,dialects,flat,tree,lists,append,prompts,peers,changes", "what to measure, separated by commas")
	flag.StringVar(&o.run, "run", "", "regular expression that selects commands by name")
	flag.StringVar(&o.sessions, "sessions", "", "further session files to measure, separated by commas")
	flag.IntVar(&o.rounds, "rounds", 3, "measurements of each command")
	flag.IntVar(&o.prompts, "prompts", 2000, "prompts in one session")
	flag.IntVar(&o.most, "most", 1000, "the largest session in MB")
	o.changes = suite.DefaultChanges
	flag.IntVar(&o.changes.Tree, "files", o.changes.Tree, "files of the repository in which commands run")
	flag.IntVar(&o.changes.Records, "records", o.changes.Records, "records of the session that is rewound")
	flag.IntVar(&o.changes.Long, "long", o.changes.Long, "records of a session that must not be slow because of them")
	flag.StringVar(&o.write, "write", "", "replace the generated part of this file by the tables")
	flag.BoolVar(&o.table, "table", false, "print nothing but the tables; without it, progress is printed too")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, o, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "wire:", err)
		stop()
		os.Exit(1)
	}
}

func run(ctx context.Context, o options, out io.Writer) (err error) {
	work, err := os.MkdirTemp("", "xcsh-ls-wire-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	r, missing, err := runner(ctx, o, work)
	if err != nil {
		return err
	}
	stores, err := makeStores(o, work)
	if err != nil {
		return err
	}
	begun := time.Now()
	failed := measure(ctx, r, o, stores) // what was measured before is printed
	var report strings.Builder
	fmt.Fprintf(&report, "%s on %s/%s with %d CPUs, %s; %s; %s of %v.\n\n", begun.UTC().Format(time.DateOnly), runtime.GOOS, runtime.GOARCH,
		runtime.NumCPU(), runtime.Version(), rounds(o.rounds), load(), time.Since(begun).Round(time.Second))
	for _, name := range missing {
		fmt.Fprintf(&report, "Not installed: %s\n\n", name)
	}
	r.Markdown(&report, append(stores.groups(), suite.ChangeGroups(o.changes)...)...)
	if _, err := io.WriteString(out, report.String()); err != nil {
		return err
	}
	if o.write != "" {
		failed = errors.Join(failed, rewrite(o.write, report.String()))
	}
	if wrong := r.Wrong(); len(wrong) > 0 {
		failed = errors.Join(failed, fmt.Errorf("different answers:\n%s", strings.Join(wrong, "\n")))
	}
	return failed
}

// The lines around the generated part of a file.
const (
	generated = "<!-- generated: go run ./bench/wire -write bench/README.md -->\n"
	end       = "<!-- end of generated -->\n"
)

// rewrite replaces the generated part of a file.
func rewrite(path, report string) error { return section.Replace(path, generated, end, report) }

// load describes the other work of the machine.
func load() string {
	average, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "a run"
	}
	return "load " + strings.Join(strings.Fields(string(average))[:3], ", ") + " at the end of a run"
}

func rounds(n int) string {
	if n == 1 {
		return "one round, so that these are single measurements"
	}
	return fmt.Sprintf("medians of %d rounds", n)
}

// runner finds the programs.
func runner(ctx context.Context, o options, work string) (r *suite.Runner, missing []string, err error) {
	c := suite.Config{Work: work, Rounds: o.rounds, Quiet: 60 * time.Millisecond}
	if !o.table {
		c.Log = func(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }
	}
	if o.run != "" {
		if c.Match, err = regexp.Compile(o.run); err != nil {
			return nil, nil, err
		}
	}
	path := o.server
	if path == "" {
		if path, err = build(ctx, work); err != nil {
			return nil, nil, err
		}
	}
	c.Programs = []suite.Program{{Name: "xcsh-ls", Path: path}}
	if o.against != "" {
		c.Programs = append(c.Programs, suite.Program{Name: "old", Path: o.against})
	}
	for i, p := range c.Programs {
		if c.Programs[i].Path, err = filepath.Abs(p.Path); err != nil {
			return nil, nil, err
		}
	}
	dir, err := filepath.Abs(filepath.Join("bench", "peers"))
	if err != nil {
		return nil, nil, err
	}
	c.Peers, missing = peers.Find(dir)
	return suite.New(c), missing, nil
}

// build builds the server as a release.
func build(ctx context.Context, work string) (string, error) {
	path := filepath.Join(work, "xcsh-ls.exe") // an extension that Windows needs and others ignore
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", path, "./cmd/xcsh-ls")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("run this from the top of the checkout: %w: %s", err, out)
	}
	return path, nil
}

// stores are the sessions to measure, by part.
type stores struct {
	parts  map[string]bool
	growth []suite.Store
	pi     []suite.Store
	omp    []suite.Store
	flat   []suite.Store
	named  []suite.Store
	tree   suite.Store
	lists  suite.Store
}

func makeStores(o options, work string) (s stores, err error) {
	cache, err := gen.CacheDir()
	if err != nil {
		return s, err
	}
	s.parts = map[string]bool{}
	for part := range strings.SplitSeq(o.parts, ",") {
		s.parts[part] = true
	}
	made := func(part, preset string) (store suite.Store) {
		if s.parts[part] && err == nil {
			store, err = suite.Generated(cache, preset)
		}
		return store
	}
	for _, mb := range gen.Sizes {
		if mb > o.most {
			break
		}
		s.growth = append(s.growth, made("growth", gen.Sized(gen.Xcsh, mb)))
		s.pi = append(s.pi, made("dialects", gen.Sized(gen.Pi, mb)))
		s.omp = append(s.omp, made("dialects", gen.Sized(gen.Omp, mb)))
		if mb < 1000 {
			s.flat = append(s.flat, made("flat", gen.Flat(mb)))
		}
	}
	s.tree, s.lists = made("tree", "tree"), made("lists", "L2")
	for path := range strings.SplitSeq(o.sessions, ",") {
		if path != "" && err == nil {
			var store suite.Store
			store, err = suite.File(path, work)
			s.named = append(s.named, store)
		}
	}
	return s, err
}

// groups are the tables.
func (s stores) groups() []suite.Group {
	return []suite.Group{
		{Title: "Every command, by the size of the session (xcsh's files and those of this program)", Stores: names(s.growth), Growth: true},
		{Title: "Sessions of pi", Stores: names(s.pi), Growth: true},
		{Title: "Sessions of omp", Stores: names(s.omp), Growth: true},
		{Title: "Sessions without compaction: the context is the whole file", Stores: names(s.flat), Growth: true},
		{Title: "A million entries", Stores: names([]suite.Store{s.tree})},
		{Title: "10,000 sessions", Stores: names([]suite.Store{s.lists})},
		{Title: "Named sessions", Stores: names(s.named)},
	}
}

func names(stores []suite.Store) (names []string) {
	for _, s := range stores {
		if s.Name != "" {
			names = append(names, s.Name)
		}
	}
	return names
}
