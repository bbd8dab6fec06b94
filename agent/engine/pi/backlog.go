package pi

import "sync"

// backlog is the work of the goroutine that reports to the host, in order. Its size is bounded: a reader that is
// ahead of it waits, so that in the end pi waits.
type backlog struct {
	mu     sync.Mutex
	work   []job         // guarded by mu
	size   int           // of the work; guarded by mu
	closed bool          // guarded by mu
	added  chan struct{} // has room for one
	taken  chan struct{} // has room for one
}

// job is a piece of work and the memory that it holds.
type job struct {
	size int
	do   func()
}

func newBacklog() *backlog {
	return &backlog{added: make(chan struct{}, 1), taken: make(chan struct{}, 1)}
}

// add adds a job. Only the reader calls it with a size; it waits for room.
func (b *backlog) add(size int, do func()) {
	for {
		b.mu.Lock()
		if b.size == 0 || size == 0 || b.size+size <= maxBacklog {
			b.work = append(b.work, job{size, do})
			b.size += size
			b.mu.Unlock()
			signal(b.added)
			return
		}
		b.mu.Unlock()
		<-b.taken
	}
}

// close makes run return when all work is done.
func (b *backlog) close() {
	b.mu.Lock()
	b.closed = true
	b.mu.Unlock()
	signal(b.added)
}

// run does the work until the backlog is closed.
func (b *backlog) run() {
	for {
		b.mu.Lock()
		work, closed := b.work, b.closed
		b.work = nil
		b.mu.Unlock()
		if len(work) == 0 {
			if closed {
				return
			}
			<-b.added
			continue
		}
		for i, j := range work {
			j.do()
			work[i] = job{}
			b.mu.Lock()
			b.size -= j.size
			b.mu.Unlock()
			signal(b.taken)
		}
	}
}

func signal(ch chan<- struct{}) {
	select {
	case ch <- struct{}{}:
	default:
	}
}
