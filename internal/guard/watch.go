package guard

import (
	"errors"
	"io"
	"time"
)

var errIdle = errors.New("no data was received in time")

// watch cancels a request when the service is silent for too long. Time that the reader
// of the answer takes for itself does not count.
type watch struct {
	idle  time.Duration // <= 0: no limit
	timer Timer
}

func newWatch(o Options, cancel func(error)) *watch {
	w := &watch{idle: o.idle()}
	if w.idle > 0 {
		w.timer = o.afterFunc(w.idle, func() { cancel(errIdle) })
	}
	return w
}

func (w *watch) start() {
	if w.timer != nil {
		w.timer.Reset(w.idle)
	}
}

func (w *watch) stop() {
	if w.timer != nil {
		w.timer.Stop()
	}
}

// watched is a body with an idle timeout for its reads.
type watched struct {
	io.Reader
	*watch
}

func (b watched) Read(p []byte) (int, error) {
	b.start()
	defer b.stop()
	return b.Reader.Read(p)
}
