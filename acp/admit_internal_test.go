package acp

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// blockedWriter is a client that reads nothing until it is released.
type blockedWriter struct{ release chan struct{} }

func (w blockedWriter) Write(b []byte) (int, error) {
	<-w.release
	return len(b), nil
}

// While the client does not read, requests are held in order. A cancelled one never begins.
func TestRequestsAreHeldWhileTheClientDoesNotRead(t *testing.T) {
	t.Parallel()
	o := newOutbox()
	w := blockedWriter{make(chan struct{})}
	go o.run(w)
	begun := make(chan string, 10)
	a := &admission{begin: func(m envelope) { begun <- string(m.ID) }, out: o}
	done := make(chan struct{})
	request := func(id string) envelope {
		return envelope{ID: json.RawMessage(id), Method: methodPrompt, Params: json.RawMessage(`{"sessionId":"s` + id + `"}`)}
	}
	a.add(request("1"), done)
	require.Equal(t, "1", <-begun)
	o.put(notification("x", strings.Repeat("x", maxUnread)))
	for _, id := range []string{"2", "3", "4", "5"} {
		a.add(request(id), done)
	}
	require.Len(t, a.drop(withID(json.RawMessage("3"))), 1)
	require.Len(t, a.drop(promptOf("s4")), 1)
	require.Empty(t, a.drop(promptOf("s4")))
	require.Empty(t, begun)
	close(w.release)
	require.Equal(t, "2", <-begun)
	require.Equal(t, "5", <-begun)
	o.close()
	<-o.done
	require.Zero(t, o.unread())
}

// A cancellation finds a held request until the request begins.
func TestARequestIsHeldUntilItBegins(t *testing.T) {
	t.Parallel()
	o := newOutbox()
	w := blockedWriter{make(chan struct{})}
	go o.run(w)
	begun := make(chan string, 1)
	a := &admission{begin: func(m envelope) { begun <- string(m.ID) }, out: o}
	o.put(notification("x", strings.Repeat("x", maxUnread)))
	a.add(envelope{ID: json.RawMessage("1"), Method: methodPrompt}, nil)
	a.turn.Lock()
	close(w.release)
	<-a.out.roomy()
	soon := time.NewTimer(20 * time.Millisecond)
	<-soon.C
	a.mu.Lock()
	held := len(a.held)
	a.mu.Unlock()
	a.turn.Unlock()
	require.Equal(t, 1, held)
	require.Equal(t, "1", <-begun)
	o.close()
}
