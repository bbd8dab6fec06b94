package main

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// A pipe of a slow program is read to its end. The user learns what the command waits for.
func TestStandardInputIsReadToItsEnd(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		first   time.Duration // until the first text
		notices []string
	}{
		"at once": {time.Second, nil},
		"slowly":  {stdinLimit, []string{waitingForMore}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				in, out := io.Pipe()
				go func() {
					<-time.After(tc.first) // of the bubble
					_, _ = io.WriteString(out, "one\n")
					<-time.After(time.Hour)
					_, _ = io.WriteString(out, "two\n")
					_ = out.Close()
				}()
				var notices []string
				text, err := stdinText(t.Context(), in, false, func(n string) { notices = append(notices, n) })
				require.NoError(t, err)
				assert.Equal(t, "one\ntwo", text)
				assert.Equal(t, tc.notices, notices)
			})
		})
	}
}

// A signal ends the wait for an inherited pipe that nobody closes.
func TestWaitForStandardInputIsStopped(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		in, out := io.Pipe()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		var notices []string
		_, err := stdinText(ctx, in, false, func(n string) { notices = append(notices, n) })
		require.True(t, fault.Is(err, fault.Cancelled), "%v", err)
		assert.Len(t, notices, 1)
		_ = out.Close() // lets the reader in the background end
	})
}

// An inherited pipe on which nothing arrives ends in an error, unless the prompt must come from it.
func TestSilentStandardInput(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		in, out := io.Pipe()
		start := time.Now()
		var notices []string
		_, err := stdinText(t.Context(), in, false, func(n string) { notices = append(notices, n) })
		require.True(t, fault.Is(err, fault.InvalidArgument), "%v", err)
		assert.Equal(t, stdinNotice+stdinLimit, time.Since(start))
		assert.Equal(t, []string{waitingForMore}, notices)
		_ = out.Close() // lets the reader in the background end
	})
	synctest.Test(t, func(t *testing.T) {
		in, out := io.Pipe()
		go func() {
			<-time.After(24 * time.Hour) // of the bubble
			_, _ = io.WriteString(out, "at last")
			_ = out.Close()
		}()
		var notices []string
		text, err := stdinText(t.Context(), in, true, func(n string) { notices = append(notices, n) })
		require.NoError(t, err)
		assert.Equal(t, "at last", text)
		assert.Equal(t, []string{waitingForPrompt}, notices)
	})
}

// endless never ends.
type endless struct{ read int }

func (e *endless) Read(p []byte) (int, error) {
	e.read += len(p)
	for i := range p {
		p[i] = 'y'
	}
	return len(p), nil
}

func TestStandardInputIsBounded(t *testing.T) {
	t.Parallel()
	none := func(string) {}
	in := new(endless)
	_, err := stdinText(t.Context(), in, true, none)
	require.True(t, fault.Is(err, fault.InvalidArgument), "%v", err)
	assert.LessOrEqual(t, in.read, maxStdin+1)

	text, err := stdinText(t.Context(), strings.NewReader(strings.Repeat("x", maxStdin)), true, none)
	require.NoError(t, err)
	assert.Len(t, text, maxStdin)

	_, err = stdinText(t.Context(), iotest.ErrReader(errors.New("broken")), true, none)
	require.ErrorContains(t, err, "Cannot read standard input: broken.")
}
