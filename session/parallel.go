package session

import (
	"errors"
	"io"
	"sync"
)

const (
	// parallelFile is the size in bytes above which a file is scanned by several
	// goroutines: below it, starting them costs more than it saves.
	parallelFile = 16 << 20

	segmentBlock = 256 << 10 // bytes that a worker takes at once; fits the cache of a core
)

// scanParallel is [scanValues] with several workers, which scan the file in segments of
// about block bytes. The calling goroutine delivers the results in file order.
//
// Workers only take lines without problems. All others go to the same scanner that works
// without workers, so that both find the same. If a value extends past its segment, the
// rest of the file is read without workers.
func scanParallel(f io.ReadSeeker, workers, block int, emit func(Value), report func(Problem)) (tail, error) {
	s := lineScanner{src: wantsMore{}, emit: emit, report: report, budget: spanBudget}
	p := newSplitter(f, workers, block)
	err := p.each(s.segment)
	if !errors.Is(err, errWantsMore) {
		return s.end(), err
	}
	if _, err := f.Seek(s.off, io.SeekStart); err != nil {
		return tail{}, err
	}
	s.src, s.buf, s.eof = f, nil, false
	return s.run()
}

// errWantsMore means that a value needs bytes after its segment.
var errWantsMore = errors.New("session: a value goes on behind its segment")

type wantsMore struct{}

func (wantsMore) Read([]byte) (int, error) { return 0, errWantsMore }

// segment delivers the values of g and moves the scanner to its end. If the error is
// errWantsMore, the scanner is before the line that needs more.
func (s *lineScanner) segment(g *segment) error {
	for _, v := range g.values {
		v.line += s.line
		s.emit(v)
	}
	s.line += g.lines
	s.buf, s.eof = g.buf, g.last
	s.consume(g.usual)
	switch {
	case g.err != nil:
		return g.err
	case g.tooLong:
		return errWantsMore
	}
	for len(s.buf) > 0 {
		if err := s.next(); err != nil {
			s.line--
			return err
		}
	}
	return nil
}

// splitter reads a file as segments. Workers take turns reading one, and then scan it.
type splitter struct {
	src   io.Reader
	block int
	free  chan *segment // not in use
	order chan *segment // in the order of the file, scanned or about to be
	halt  chan struct{} // closed when no more are wanted
	work  sync.WaitGroup

	mu   sync.Mutex
	off  int64  // guarded by mu, like all below
	rest []byte // read, but a part of the next segment
	done bool
}

func newSplitter(src io.Reader, workers, block int) *splitter {
	n := 2 * workers // one to scan and one to be delivered, for each
	p := &splitter{
		src: src, block: block, halt: make(chan struct{}),
		free: make(chan *segment, n), order: make(chan *segment, n),
	}
	for range n {
		p.free <- &segment{}
	}
	for range workers {
		p.work.Go(p.scan)
	}
	return p
}

// each calls f with each segment in file order, until f fails. When it returns, no worker
// reads any more.
func (p *splitter) each(f func(*segment) error) (err error) {
	for last := false; !last && err == nil; {
		g := <-p.order
		<-g.scanned
		last, err = g.last, f(g)
		p.free <- g
	}
	close(p.halt)
	p.work.Wait()
	return err
}

// scan is the body of a worker.
func (p *splitter) scan() {
	for {
		select {
		case <-p.halt:
			return
		case g := <-p.free:
			if !p.read(g) {
				return
			}
			g.scan()
			close(g.scanned)
		}
	}
}

// read makes g the next segment. It reports whether there is one.
func (p *splitter) read(g *segment) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.done {
		return false
	}
	p.rest = g.read(p.src, p.off, p.block, p.rest)
	p.done = g.last || g.tooLong || g.err != nil
	p.off += int64(len(g.buf))
	p.order <- g // has room for all there are
	return true
}
