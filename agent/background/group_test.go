package background_test

import (
	"context"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/background"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// until returns the start of a command that writes a text and runs until it is stopped or the channel is closed.
func until(text string, end <-chan struct{}) func() (background.Run, error) {
	return func() (background.Run, error) {
		return func(ctx context.Context, out io.Writer) background.Ending {
			_, _ = io.WriteString(out, text)
			select {
			case <-end:
				return background.Ending{Code: 7}
			case <-ctx.Done():
				return background.Ending{Stopped: true}
			}
		}, nil
	}
}

func start(t *testing.T, g *background.Group, line string, begin func() (background.Run, error)) string {
	t.Helper()
	id, err := g.Start(t.Context(), line, begin)
	require.NoError(t, err)
	return id
}

func TestACommandContinuesAfterItsCall(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var changes atomic.Int32
		g := &background.Group{Changed: func() { changes.Add(1) }}
		end := make(chan struct{})
		call, endCall := context.WithCancel(t.Context())
		id, err := g.Start(call, "npm run dev", until("listening\n", end))
		require.NoError(t, err)
		endCall()
		synctest.Wait()
		require.Len(t, g.Running(), 1)
		require.Equal(t, "npm run dev", g.Running()[0].Command)
		s, err := g.Read(t.Context(), id, 0)
		require.NoError(t, err)
		require.Nil(t, s.Ending)
		require.Equal(t, "listening\n", string(s.Output))
		s, err = g.Read(t.Context(), id, time.Minute) // nothing new
		require.NoError(t, err)
		require.Empty(t, s.Output)
		require.Empty(t, g.Ended())

		close(end)
		synctest.Wait()
		require.Empty(t, g.Running())
		require.Equal(t, int32(2), changes.Load())
		states := g.Ended()
		require.Len(t, states, 1)
		require.Equal(t, 7, states[0].Ending.Code)
		require.Empty(t, g.Ended(), "the model is notified once")
	})
}

// The model is not notified of what it has read itself.
func TestAnEndThatWasReadIsNoNews(t *testing.T) {
	t.Parallel()
	g := &background.Group{}
	id := start(t, g, "x", until("", nil))
	require.NoError(t, g.Stop(t.Context(), id))
	s, err := g.Read(t.Context(), id, time.Minute)
	require.NoError(t, err)
	require.True(t, s.Ending.Stopped)
	require.Empty(t, g.Ended())
	require.NoError(t, g.Stop(t.Context(), id), "it has ended already")
	_, err = g.Read(t.Context(), "bg-other", 0)
	require.True(t, fault.Is(err, fault.NotFound))
}

func TestOnlyTheEndOfALongOutputIsKept(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := &background.Group{}
		id := start(t, g, "yes", func() (background.Run, error) {
			return func(_ context.Context, out io.Writer) background.Ending {
				for range 1000 {
					_, _ = io.WriteString(out, strings.Repeat("y\n", 16<<10))
				}
				_, _ = io.WriteString(out, "end\n")
				return background.Ending{}
			}, nil
		})
		began := time.Now()
		s, err := g.Read(t.Context(), id, time.Hour)
		require.NoError(t, err)
		require.NotNil(t, s.Ending)
		require.Len(t, s.Output, 64<<10)
		require.True(t, strings.HasSuffix(string(s.Output), "y\nend\n"))
		require.Equal(t, int64(1000*32<<10+4-64<<10), s.Dropped)
		require.Greater(t, time.Since(began), 2*time.Second, "a flood is slowed down")
	})
}

func TestThereIsALimitOfCommands(t *testing.T) {
	t.Parallel()
	g := &background.Group{}
	for range background.MaxRunning {
		start(t, g, "x", until("", nil))
	}
	for range 1000 {
		_, err := g.Start(t.Context(), "x", until("", nil))
		require.True(t, fault.Is(err, fault.Busy))
	}
	require.NoError(t, g.StopAll(t.Context()))
	require.Empty(t, g.Running())
	for range 1000 { // their number is no limit
		id := start(t, g, "x", until("", nil))
		require.NoError(t, g.Stop(t.Context(), id))
	}
	require.Len(t, g.Ended(), 16, "the oldest are forgotten")
}

// A session that ends stops everything; a call of it that comes late starts nothing.
func TestStopAllStopsCommandsThatAreStarting(t *testing.T) {
	t.Parallel()
	g := &background.Group{}
	turn, abort := context.WithCancel(t.Context())
	var starts sync.WaitGroup
	for range 4 * background.MaxRunning {
		starts.Go(func() { _, _ = g.Start(turn, "x", until("", nil)) })
	}
	abort()
	require.NoError(t, g.StopAll(t.Context()))
	starts.Wait()
	require.NoError(t, g.StopAll(t.Context()))
	require.Empty(t, g.Running())
	_, err := g.Start(turn, "x", until("", nil))
	require.True(t, fault.Is(err, fault.Cancelled))
}

func TestAPanicEndsOnlyTheCommand(t *testing.T) {
	t.Parallel()
	g := &background.Group{}
	id := start(t, g, "x", func() (background.Run, error) {
		return func(context.Context, io.Writer) background.Ending { panic("oh") }, nil
	})
	s, err := g.Read(t.Context(), id, time.Minute)
	require.NoError(t, err)
	require.Contains(t, s.Ending.Note, "oh")
}
