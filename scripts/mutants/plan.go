package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

// plan says which mutants run.
type plan struct {
	budget time.Duration // mutants are started until it is over; 0 has no limit
	seed   string        // of the order, if there is a budget
	jobs   int
}

// least is the number of mutants that run even if the machine is so slow that the budget is over before.
const least = 3

// judge gives the result of one mutant.
type judge interface {
	judge(ctx context.Context, m mutant) result
}

// run runs mutants, reports them, and fails unless each was killed.
func (p plan) run(ctx context.Context, out io.Writer, list []mutant, j judge) error {
	start := time.Now()
	if p.budget > 0 {
		fmt.Fprintf(out, "a sample of %s of the %d mutants; repeat it with -seed %s\n", p.budget, len(list), p.seed)
	}
	results := p.results(ctx, p.order(list), j, func(r result) { report(out, r) })
	return summary(out, results, time.Since(start))
}

// order returns the mutants as they run: a sample in the order of its seed, the whole list by package, so that
// the compiler's cache helps.
func (p plan) order(list []mutant) []mutant {
	list = slices.Clone(list)
	if p.budget == 0 {
		slices.SortStableFunc(list, func(a, b mutant) int {
			x, _, _ := target(a.tests[0])
			y, _, _ := target(b.tests[0])
			return cmp.Compare(x, y)
		})
		return list
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(p.seed))
	random := rand.New(rand.NewPCG(h.Sum64(), 0))
	random.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list
}

// results runs mutants side by side and calls done for each, one at a time.
func (p plan) results(ctx context.Context, list []mutant, j judge, done func(result)) []result {
	var over <-chan time.Time
	if p.budget > 0 {
		timer := time.NewTimer(p.budget)
		defer timer.Stop()
		over = timer.C
	}
	var (
		mu      sync.Mutex
		wait    sync.WaitGroup
		results []result
		slots   = make(chan struct{}, max(1, p.jobs))
	)
	finished := false
	for i, m := range list {
		slots <- struct{}{} // first, because it can take long
		select {
		case <-over:
			finished = true
		default:
		}
		if finished && i >= least || ctx.Err() != nil {
			break
		}
		wait.Go(func() {
			r := j.judge(ctx, m)
			mu.Lock()
			defer mu.Unlock()
			results = append(results, r)
			done(r)
			<-slots
		})
	}
	wait.Wait()
	return results
}

// report prints a result, and for one that fails the change and the log.
func report(out io.Writer, r result) {
	fmt.Fprintf(out, "%-8s %5.1f s  %s: %s\n", r.verdict, r.took.Seconds(), r.mutant, r.mutant.bug)
	if r.verdict == killed {
		return
	}
	fmt.Fprintf(out, "%s/%s: %s\n", directory, r.mutant.from, r.mutant.file)
	fmt.Fprintf(out, "- %s\n+ %s\n%s\n", r.mutant.old, r.mutant.new, r.log)
}

// summary prints the numbers, and fails unless all mutants were killed.
func summary(out io.Writer, results []result, took time.Duration) error {
	count := map[verdict]int{}
	rows := map[string]bool{}
	for _, r := range results {
		count[r.verdict]++
		rows[r.mutant.row] = true
	}
	fmt.Fprintf(out, "%d mutants of %d rows in %s: %d killed, %d survived, %d hung, %d unusable\n",
		len(results), len(rows), took.Round(time.Second), count[killed], count[survived], count[stuck], count[unusable])
	if len(results) == 0 {
		return errors.New("no mutant ran")
	}
	if n := len(results) - count[killed]; n > 0 {
		return fmt.Errorf("%d of %d mutants were not killed", n, len(results))
	}
	return nil
}
