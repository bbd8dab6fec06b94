// Mutants checks that tests fail when the product is wrong. The files in list describe small bugs, each with a
// row of docs/coverage and with tests that prove the row:
//
//	session/library.TestRecentNames
//	session/library/recent.go: a name is cut one character too late
//	- if n > maxName {
//	+ if n > maxName+1 {
//
// The first line names the row and its tests as docs/coverage.md does, the second the file and the bug. The lines
// after "-" occur exactly once in the file, and those after "+" replace them. The line "hangs" after the second
// says that the bug blocks the test, which then counts as failed when its time is over.
//
// For each mutant the program builds the test binary with "go build -overlay", which changes no file of the
// repository, and runs the test. A test that passes has not noticed the bug: the mutant survived, and the
// program fails. It also fails if a mutant does not compile, does not fit its file, or if a test fails without it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"time"
)

func main() {
	root := flag.String("root", ".", "root of the repository")
	only := flag.String("only", "", "run only the mutants whose row, tests or file contain this text")
	budget := flag.Duration("budget", 0, "start mutants in a random order until this time is over; 0 runs all of them")
	seed := flag.String("seed", "", "seed of the random order (default: the date in UTC)")
	jobs := flag.Int("jobs", max(1, runtime.NumCPU()/2), "number of mutants at the same time")
	flag.Parse()
	if *seed == "" {
		*seed = time.Now().UTC().Format(time.DateOnly)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *root, *only, plan{*budget, *seed, *jobs}); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		stop()
		os.Exit(1)
	}
}

// run checks the list and runs the mutants of a plan. It fails unless each of them was killed.
func run(ctx context.Context, root, only string, p plan) error {
	list, err := readList(root)
	if err != nil {
		return err
	}
	if err := check(root, list); err != nil {
		return err
	}
	list = chosen(list, only)
	if len(list) == 0 {
		return errors.New("no mutant matches")
	}
	w, err := newWorkshop(root)
	if err != nil {
		return err
	}
	defer w.close()
	return p.run(ctx, os.Stdout, list, w)
}
