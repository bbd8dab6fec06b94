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
// without workers, so that both find the same. It also reads each long line, and then the
// workers begin again behind it. If a value extends past its segment, the rest of the file is
// read without workers.
func scanParallel(f io.ReadSeeker, workers, block int, emit func(Value), report func(Problem)) (tail, error) {
	s := lineScanner{emit: emit, report: report, budget: spanBudget, limits: fileLimits}
	return s.runParallel(f, workers, block)
}

func (s *lineScanner) runParallel(f io.ReadSeeker, workers, block int) (tail, error) {
	for {
		s.src = wantsMore{}
		err := newSplitter(f, s.off, workers, block, s.limits).each(s.segment)
		switch {
		case errors.Is(err, errLongLine):
			if err := s.alone(f); err != nil {
				return tail{}, err
			}
		case errors.Is(err, errWantsMore):
			s.buf = nil
			if err := s.resume(f); err != nil {
				return tail{}, err
			}
			return s.run()
		default:
			return s.end(), err
		}
	}
}

// alone reads the long line whose beginning is in the buffer, and leaves f behind it.
func (s *lineScanner) alone(f io.ReadSeeker) error {
	s.store = s.buf // of the segment, which no worker reads into any more
	if err := s.resume(f); err != nil {
		return err
	}
	if err := s.next(); err != nil {
		return err
	}
	s.store, s.buf = nil, nil
	return s.resume(f)
}

// resume makes the scanner read f from behind its buffer on.
func (s *lineScanner) resume(f io.ReadSeeker) error {
	_, err := f.Seek(s.off+int64(len(s.buf)), io.SeekStart)
	s.src, s.eof = f, false
	return err
}

var (
	// errWantsMore means that a value needs bytes after its segment.
	errWantsMore = errors.New("session: a value goes on behind its segment")

	// errLongLine means that a segment ends in the middle of a long line.
	errLongLine = errors.New("session: a line goes on behind its segment")
)

type wantsMore struct{}

func (wantsMore) Read([]byte) (int, error) { return 0, errWantsMore }

// segment delivers the values of g and moves the scanner to its end. If the error is
// errWantsMore or errLongLine, the scanner is before the line that needs more.
func (s *lineScanner) segment(g *segment) error {
	for i := range g.values {
		v := &g.values[i]
		v.line += s.line
		s.begin(v)
		s.emit(*v)
	}
	s.line += g.lines
	s.buf, s.eof = g.buf, g.last
	s.consume(g.usual)
	switch {
	case g.err != nil:
		return g.err
	case g.tooLong:
		return errLongLine
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

// newSplitter begins to read src, which is at off in its file.
func newSplitter(src io.Reader, off int64, workers, block int, limits lineLimits) *splitter {
	n := 2 * workers // one to scan and one to be delivered, for each
	p := &splitter{
		src: src, off: off, block: block, halt: make(chan struct{}),
		free: make(chan *segment, n), order: make(chan *segment, n),
	}
	for range n {
		p.free <- &segment{limits: limits}
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
