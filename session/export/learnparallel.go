package export

import (
	"encoding/json"
	"iter"
	"runtime"
	"slices"
)

// batchSize is the number of bytes of lines that a goroutine searches at a time.
const batchSize = 256 << 10

// mostLearners limits the goroutines that search a document.
const mostLearners = 4

// learnAll searches lines on several processors and calls found with the number of each line that contains a secret.
// The result is the same as that of one pass after the other, because batches are evaluated in their order. It keeps
// copies of a few batches only: a line that is longer than a batch is searched where it is.
func (r *Redactor) learnAll(lines iter.Seq2[json.RawMessage, error], found func(n int)) {
	l := learners{of: r, found: found, most: min(runtime.GOMAXPROCS(0), mostLearners)}
	defer l.wait()
	n := 0
	for raw, err := range lines {
		if err != nil {
			break
		}
		if len(raw) > batchSize {
			l.finish()
			l.learn(n, raw)
		} else {
			l.add(n, raw)
		}
		n++
	}
	l.finish()
}

// learners are the goroutines that search a document.
type learners struct {
	of    *Redactor
	found func(n int)
	most  int // goroutines at a time
	open  *batch
	busy  []*batch // being searched, in order
	free  []*batch
}

// batch is a number of lines that are searched together.
type batch struct {
	lines []byte
	ends  []int // of the lines
	first int   // the number of the first line

	by       *Redactor
	found    []int // the lines with secrets
	done     chan struct{}
	panicked any // a panic of the goroutine, which belongs to the caller
}

// learn searches a line at once.
func (l *learners) learn(n int, raw []byte) {
	l.of.learned.found = false
	l.of.JSON(raw)
	if l.of.learned.found {
		l.found(n)
	}
}

// add adds a line to the open batch, and starts to search it if it is full.
func (l *learners) add(n int, raw []byte) {
	if l.open == nil {
		l.open = l.take(n)
	}
	b := l.open
	b.lines = append(b.lines, raw...)
	b.ends = append(b.ends, len(b.lines))
	if len(b.lines) < batchSize {
		return
	}
	l.open = nil
	if len(l.busy) == l.most {
		l.evaluate()
	}
	l.busy = append(l.busy, b)
	go b.search()
}

// take returns an empty batch.
func (l *learners) take(first int) *batch {
	var b *batch
	if n := len(l.free); n > 0 {
		b, l.free = l.free[n-1], l.free[:n-1]
	} else {
		b = &batch{by: &Redactor{Scanner: l.of.scanner()}}
	}
	b.lines, b.ends, b.found, b.first = b.lines[:0], b.ends[:0], b.found[:0], first
	b.by.learned, b.by.to = &learned{collecting: true}, &report{}
	b.done = make(chan struct{})
	return b
}

// search searches the lines of b.
func (b *batch) search() {
	defer close(b.done)
	defer func() { b.panicked = recover() }()
	from := 0
	for i, end := range b.ends {
		b.by.learned.found = false
		b.by.JSON(b.lines[from:end])
		if b.by.learned.found {
			b.found = append(b.found, b.first+i)
		}
		from = end
	}
}

// evaluate waits for the first batch that is being searched, and adds its result.
func (l *learners) evaluate() {
	b := l.busy[0]
	<-b.done
	l.busy = slices.Delete(l.busy, 0, 1)
	if b.panicked != nil {
		panic(b.panicked)
	}
	for _, s := range b.by.learned.list {
		l.of.learned.add(s)
	}
	for _, n := range b.found {
		l.found(n)
	}
	l.free = append(l.free, b)
}

// finish searches the rest.
func (l *learners) finish() {
	for len(l.busy) > 0 {
		l.evaluate()
	}
	if b := l.open; b != nil {
		l.open = nil
		l.busy = append(l.busy, b)
		b.search()
		l.evaluate()
	}
}

// wait waits for goroutines that a panic has left behind.
func (l *learners) wait() {
	for _, b := range l.busy {
		<-b.done
	}
}
