package providertest

import (
	"bytes"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/internal/guard"
)

// kit is a server, a client of it, and the connection between them.
type kit struct {
	*Server
	model  provider.Model
	client provider.Provider
	timer  *handTimer
	wire   *wiretap
}

func newKit(t *testing.T, api provider.API, newProvider func(guard.Options) provider.Provider) *kit {
	t.Helper()
	k := &kit{Server: New(t), timer: &handTimer{}, wire: &wiretap{next: &http.Transport{}}}
	k.model = k.Model(api, "m")
	k.client = newProvider(guard.Options{
		Transport: k.wire, Idle: time.Minute,
		AfterFunc: k.timer.afterFunc, Now: func() time.Time { return now },
	})
	t.Cleanup(func() {
		k.wire.next.CloseIdleConnections()
		require.Zero(t, k.wire.open.Load(), "a body was left open")
	})
	return k
}

var now = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// ask is a request with one question.
func (k *kit) ask() provider.Request {
	return provider.Request{Model: k.model, Messages: []provider.Message{question("Hello?")}}
}

func question(text string) provider.Message {
	return provider.Message{Role: provider.RoleUser, Content: []provider.Block{provider.Text(text)}}
}

// handTimer is a timer that fires when the test calls it.
type handTimer struct {
	mu   sync.Mutex
	f    func()
	next bool
}

func (h *handTimer) afterFunc(_ time.Duration, f func()) guard.Timer {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.f = f
	return h
}

// fireNext makes the timer fire as soon as the client waits again.
func (h *handTimer) fireNext() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.next = true
}

// fire makes the timer fire now.
func (h *handTimer) fire() {
	h.mu.Lock()
	defer h.mu.Unlock()
	go h.f()
}

func (h *handTimer) Reset(time.Duration) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.next {
		h.next = false
		go h.f()
	}
	return true
}

func (h *handTimer) Stop() bool { return true }

// wiretap counts requests and open bodies, and changes how bodies arrive.
type wiretap struct {
	next     *http.Transport
	requests atomic.Int32
	open     atomic.Int32
	change   func(io.Reader) io.Reader // nil: none
}

func (w *wiretap) RoundTrip(r *http.Request) (*http.Response, error) {
	w.requests.Add(1)
	resp, err := w.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	w.open.Add(1)
	b := &tapped{Reader: resp.Body, Closer: resp.Body, tap: w}
	if w.change != nil {
		b.Reader = w.change(resp.Body)
	}
	resp.Body = b
	return resp, nil
}

type tapped struct {
	io.Reader
	io.Closer
	tap  *wiretap
	once sync.Once
}

func (b *tapped) Close() error {
	b.once.Do(func() { b.tap.open.Add(-1) })
	return b.Closer.Close()
}

// framings are forms in which the same events may arrive.
var framings = map[string]func(io.Reader) io.Reader{
	"one byte at a time": iotest.OneByteReader,
	"lines end in CRLF":  replacing("\n", "\r\n"),
	"lines end in CR":    replacing("\n", "\r"),
	"comments between":   replacing("\n\n", "\n\n: keep-alive\n\n:\n"),
	"no space":           replacing("data: ", "data:"),
	"other fields":       replacing("data: ", "id: 7\nretry: 1000\nunknown\ndata: "),
}

// replacing changes the whole body, once it is complete.
func replacing(from, to string) func(io.Reader) io.Reader {
	return func(r io.Reader) io.Reader {
		pr, pw := io.Pipe()
		go func() {
			all, err := io.ReadAll(r)
			_, _ = pw.Write(bytes.ReplaceAll(all, []byte(from), []byte(to))) // the client may have left
			pw.CloseWithError(err)
		}()
		return iotest.OneByteReader(pr)
	}
}
