package pi

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/engine"
	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
)

// testLimit bounds what a test waits for.
const testLimit = 60 * time.Second

// testHost is a session that stores the reports. Its functions may be nil.
type testHost struct {
	t *testing.T

	permit  func(ctx context.Context, c engine.Call) error
	read    func(path string) (string, bool, error)
	write   func(callID, path, text string) (bool, error)
	ask     func(ctx context.Context, q event.Question) engine.Answer
	message func(json.RawMessage)
	unsaved []string

	mu      sync.Mutex
	reports []string      // guarded by mu
	calls   []engine.Call // guarded by mu
	more    chan struct{} // closed and replaced with every report; guarded by mu
}

func newHost(t *testing.T) *testHost { return &testHost{t: t, more: make(chan struct{})} }

func (h *testHost) report(format string, args ...any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.reports = append(h.reports, fmt.Sprintf(format, args...))
	close(h.more)
	h.more = make(chan struct{})
}

func (h *testHost) Emit(e event.Event) {
	raw, err := json.Marshal(e)
	if err != nil {
		h.t.Errorf("an event cannot be encoded: %v", err)
	}
	h.report("emit %s", raw)
}

func (h *testHost) Message(_ context.Context, m json.RawMessage) {
	if h.message != nil {
		h.message(m)
	}
	h.report("message %s", m)
}

func (h *testHost) Leaf(id string)   { h.report("leaf %s", id) }
func (h *testHost) Left(path string) { h.report("left %s", path) }

func (h *testHost) Permit(ctx context.Context, c engine.Call) error {
	h.mu.Lock()
	h.calls = append(h.calls, c)
	h.mu.Unlock()
	h.report("permit %s %s", c.Tool, c.Args)
	if h.permit == nil {
		return nil
	}
	return h.permit(ctx, c)
}

func (h *testHost) Read(_ context.Context, path string) (string, bool, error) {
	if h.read == nil {
		return "", false, nil
	}
	return h.read(path)
}

func (h *testHost) Write(_ context.Context, callID, path, text string) (bool, error) {
	h.report("write %s", path)
	if h.write == nil {
		return false, nil
	}
	return h.write(callID, path, text)
}

func (h *testHost) Ask(ctx context.Context, q event.Question) engine.Answer {
	raw, _ := json.Marshal(q)
	h.report("ask %s", raw)
	if h.ask == nil {
		<-ctx.Done()
		h.report("gone %s", q.Title)
		return engine.Answer{Cancelled: true}
	}
	return h.ask(ctx, q)
}

func (h *testHost) Queued(steering, followUp []string) {
	h.report("queued %s %s", strings.Join(steering, ","), strings.Join(followUp, ","))
}

// all returns the reports so far.
func (h *testHost) all() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.reports)
}

// has reports whether a report contains all texts.
func has(reports []string, texts ...string) bool {
	return slices.ContainsFunc(reports, func(r string) bool {
		return !slices.ContainsFunc(texts, func(t string) bool { return !strings.Contains(r, t) })
	})
}

// Unsaved implements [engine.Desk].
func (h *testHost) Unsaved(context.Context) []string { return h.unsaved }

// wait waits for a report that contains all texts.
func (h *testHost) wait(texts ...string) {
	h.t.Helper()
	h.waitAfter(0, texts...)
}

// waitAfter is wait without the first reports.
func (h *testHost) waitAfter(first int, texts ...string) {
	h.t.Helper()
	late := time.After(testLimit)
	for {
		h.mu.Lock()
		found, more := has(h.reports[first:], texts...), h.more
		h.mu.Unlock()
		if found {
			return
		}
		select {
		case <-more:
		case <-late:
			require.Fail(h.t, "not reported", "%q of:\n%s", texts, strings.Join(h.all(), "\n"))
		}
	}
}

// roles returns the roles of the messages.
func (h *testHost) roles() (roles []string) {
	for _, r := range h.all() {
		if m, ok := strings.CutPrefix(r, "message "); ok {
			role, _ := rawjson.GetString([]byte(m), "role")
			roles = append(roles, role)
		}
	}
	return roles
}
