package agent_test

import (
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/session"
)

// A snapshot that is taken while the session is switched is of one of the two.
// Proves: X-209
func TestASnapshotIsOfOneSession(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	path := put(t, fs, "a", "0123456789abcdef", "/w")
	w := newWorld(t, fs)
	s := w.live(t, "/w")
	stop, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-stop:
				return
			default:
			}
			_, _ = s.Switch(t.Context(), path)
			_, _ = s.New(t.Context(), session.NewOptions{})
		}
	}()
	defer func() { close(stop); <-ended }()
	for range 3000 {
		snap, err := s.Snapshot(t.Context())
		require.NoError(t, err)
		require.Len(t, snap.Messages, snap.State.MessageCount, "state of %s", snap.State.SessionID)
	}
}
