package export

import (
	"encoding/json"
	"iter"
	"runtime"
	"slices"
)

// lot is a number of lines that are worked on together.
type lot struct {
	lines []byte
	ends  []int // of the lines
	first int   // the number of the first line
}

// each calls f with the lines of l and their numbers.
func (l *lot) each(f func(n int, line []byte)) {
	from := 0
	for i, end := range l.ends {
		f(l.first+i, l.lines[from:end])
		from = end
	}
}

// worker works on one lot at a time.
type worker[T any] struct {
	lot
	result   T
	done     chan struct{}
	panicked any // a panic of the goroutine, which belongs to the caller
}

// lots works on the lines of a document on several processors, and takes the results in the order of the lines. It keeps copies of
// a few lots only: a line that is longer than a lot is worked on where it is.
type lots[T any] struct {
	work func(l *lot, result *T) // runs on a goroutine of its own; result is that of an earlier lot
	take func(result *T) error

	open *worker[T]
	busy []*worker[T] // in order
	free []*worker[T]
}

// run works on all lines. failed returns the error for a line that cannot be read.
func (ls *lots[T]) run(lines iter.Seq2[json.RawMessage, error], failed func(n int, err error) error) error {
	defer ls.wait()
	n := 0
	for raw, err := range lines {
		if err == nil {
			err = ls.add(n, raw)
		} else {
			err = failed(n, err)
		}
		if err != nil {
			return err
		}
		n++
	}
	return ls.finish()
}

// add adds a line to the open lot, and starts to work on it if it is full.
func (ls *lots[T]) add(n int, raw []byte) error {
	if len(raw) > batchSize {
		return ls.addLong(n, raw)
	}
	if ls.open == nil {
		ls.open = ls.worker(n)
	}
	w := ls.open
	w.lines = append(w.lines, raw...)
	w.ends = append(w.ends, len(w.lines))
	if len(w.lines) < batchSize {
		return nil
	}
	ls.open = nil
	if len(ls.busy) >= min(runtime.GOMAXPROCS(0), mostLearners) {
		if err := ls.takeFirst(); err != nil {
			return err
		}
	}
	ls.busy = append(ls.busy, w)
	go w.run(ls.work)
	return nil
}

// addLong works on a long line at once.
func (ls *lots[T]) addLong(n int, raw []byte) error {
	if err := ls.finish(); err != nil {
		return err
	}
	var result T // is not kept
	ls.work(&lot{lines: raw, ends: []int{len(raw)}, first: n}, &result)
	return ls.take(&result)
}

// worker returns a worker with an empty lot.
func (ls *lots[T]) worker(first int) *worker[T] {
	w := &worker[T]{}
	if n := len(ls.free); n > 0 {
		w, ls.free = ls.free[n-1], ls.free[:n-1]
	}
	w.lines, w.ends, w.first, w.done = w.lines[:0], w.ends[:0], first, make(chan struct{})
	return w
}

func (w *worker[T]) run(work func(*lot, *T)) {
	defer close(w.done)
	defer func() { w.panicked = recover() }()
	work(&w.lot, &w.result)
}

// takeFirst waits for the first lot that is being worked on, and takes its result.
func (ls *lots[T]) takeFirst() error {
	w := ls.busy[0]
	<-w.done
	ls.busy = slices.Delete(ls.busy, 0, 1)
	if w.panicked != nil {
		panic(w.panicked)
	}
	ls.free = append(ls.free, w)
	return ls.take(&w.result)
}

// finish works on the rest.
func (ls *lots[T]) finish() error {
	for len(ls.busy) > 0 {
		if err := ls.takeFirst(); err != nil {
			return err
		}
	}
	w := ls.open
	if w == nil {
		return nil
	}
	ls.open = nil
	ls.work(&w.lot, &w.result)
	ls.free = append(ls.free, w)
	return ls.take(&w.result)
}

// wait waits for goroutines that an error or a panic has left behind.
func (ls *lots[T]) wait() {
	for _, w := range ls.busy {
		<-w.done
	}
}
