// Command process measures whole processes, including their startup: the engine, that is the packages of bench.Kit
// without the protocol, the command line, other programs and system tools. What the commands of an editor cost is
// measured by bench/wire.
//
//	go run ./bench/process [-run REGEXP] [-rounds N]
//
// Programs that do the same alternate, A B C A B C, every other round in reverse order, so that
// other load on the machine affects all of them. It prints medians, and ratios to the first program,
// which is the engine or the command line of xcsh-ls. Before an operation is measured, each program must return the same result as the
// first: a fast wrong one fails the run. Programs that are not installed are listed.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
)

func main() {
	match := flag.String("run", ".", "regular expression that selects operations by name")
	rounds := flag.Int("rounds", 7, "number of runs of each program")
	flag.Parse()
	if err := run(*match, *rounds); err != nil {
		fmt.Fprintln(os.Stderr, "process:", err)
		os.Exit(1)
	}
}

func run(match string, rounds int) (err error) {
	re, err := regexp.Compile(match)
	if err != nil {
		return err
	}
	ctx := context.Background()
	work, err := os.MkdirTemp("", "xcsh-ls-bench-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	p, err := findPrograms(ctx, work)
	if err != nil {
		return err
	}
	fmt.Printf("%s/%s, %d CPUs, %s; %d rounds\n", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version(), rounds)
	for _, name := range p.missing {
		fmt.Printf("not installed: %s\n", name)
	}
	if err := printFloor(ctx); err != nil {
		return err
	}
	var wrong []string
	for _, o := range p.operations() {
		if !re.MatchString(o.name) {
			continue
		}
		differing, err := p.measure(ctx, o, rounds)
		if err != nil {
			return fmt.Errorf("%s: %w", o.name, err)
		}
		wrong = append(wrong, differing...)
	}
	if len(wrong) > 0 {
		return fmt.Errorf("different results: %s", strings.Join(wrong, "; "))
	}
	return nil
}

// printFloor prints the cost of measuring: a program that does nothing.
func printFloor(ctx context.Context) error {
	path, ok := onPath("true")
	if !ok {
		return nil
	}
	var samples []sample
	for range 9 {
		s, _, err := once(ctx, []string{path}, nil)
		if err != nil {
			return err
		}
		samples = append(samples, s)
	}
	m := median(samples)
	fmt.Printf("floor: %.1f ms wall, %.1f MB\n", m.wall, m.memory)
	return nil
}

// measure checks and measures one operation. wrong names the programs whose result differs from that
// of the first.
func (p *programs) measure(ctx context.Context, o operation, rounds int) (wrong []string, err error) {
	store, err := p.store(ctx, o.store)
	if err != nil {
		return nil, err
	}
	entrants := o.entrants(store)
	notes := make([]string, len(entrants))
	var want string
	for i, e := range entrants {
		got, err := p.answer(ctx, e, store)
		switch {
		case err != nil:
			return nil, fmt.Errorf("%s: %w", e.name, err)
		case got == "":
			notes[i] = "not compared"
		case want == "":
			want, notes[i] = got, "reference"
		case got == want:
			notes[i] = "same result"
		case e.mayDiffer != "":
			notes[i] = "DIFFERS: " + e.mayDiffer
		default:
			notes[i] = "DIFFERS"
			wrong = append(wrong, fmt.Sprintf("%s: %s returned %s, not %s", o.name, e.name, got, want))
		}
	}
	if o.rounds > 0 {
		rounds = min(rounds, o.rounds)
	}
	samples := make([][]sample, len(entrants))
	for round := range rounds {
		order := make([]int, len(entrants))
		for i := range order {
			order[i] = i
		}
		if round%2 == 1 {
			slices.Reverse(order)
		}
		for _, i := range order {
			s, err := p.sample(ctx, entrants[i], store)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", entrants[i].name, err)
			}
			samples[i] = append(samples[i], s)
		}
	}
	printTable(o.name, entrants, samples, notes)
	return wrong, nil
}

func printTable(name string, entrants []entrant, samples [][]sample, notes []string) {
	fmt.Printf("\n%s\n", name)
	t := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	row := func(cells ...string) { _, _ = fmt.Fprintln(t, strings.Join(cells, "\t")+"\t") }
	row("", "wall ms", "range", "user", "sys", "op ms", "MB", "wall ratio", "op ratio", "")
	first := median(samples[0])
	for i, e := range entrants {
		m := median(samples[i])
		op, opRatio := "", ""
		if m.op > 0 {
			op = fmt.Sprintf("%.2f", m.op)
			if first.op > 0 {
				opRatio = fmt.Sprintf("%.2fx", m.op/first.op)
			}
		}
		low, high := extremes(samples[i])
		row(e.name, fmt.Sprintf("%.1f", m.wall), fmt.Sprintf("%.1f-%.1f", low, high), fmt.Sprintf("%.1f", m.user), fmt.Sprintf("%.1f", m.sys),
			op, fmt.Sprintf("%.1f", m.memory), fmt.Sprintf("%.2fx", m.wall/first.wall), opRatio, notes[i])
	}
	_ = t.Flush()
}

// emptied returns an empty directory for one run.
func emptied(dir string) (string, error) {
	if err := os.RemoveAll(dir); err != nil {
		return "", err
	}
	return dir, os.MkdirAll(filepath.Join(dir, "tmp"), 0o700)
}
