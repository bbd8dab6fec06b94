package child_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/engine/child"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/racetest"
)

func TestLinesGoBothWays(t *testing.T) {
	t.Parallel()
	c := start(t, config(t, "echo"))
	for _, text := range []string{"a", "", "a\u2028b\u2029c", "\r", strings.Repeat("x", 10<<20), "a\x00b"} {
		require.NoError(t, c.Write(t.Context(), []byte(text)))
		require.Equal(t, text, line(t, c))
	}
	require.NoError(t, c.Close(t.Context()))
	require.Equal(t, child.Exit{}, c.Exit())
	require.Equal(t, "exited with code 0", c.Exit().String())
}

func TestALineWithALineFeedIsNotSent(t *testing.T) {
	t.Parallel()
	c := start(t, config(t, "echo"))
	require.Error(t, c.Write(t.Context(), []byte("a\nb")))
	require.NoError(t, c.Write(t.Context(), []byte("c")))
	require.Equal(t, "c", line(t, c))
}

func TestWritersDoNotMixTheirLines(t *testing.T) {
	t.Parallel()
	c := start(t, config(t, "echo"))
	const writers, each = 8, 20
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			for range each {
				text := strings.Repeat(string(rune('a'+w)), 100_000)
				if err := c.Write(t.Context(), []byte(text)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for range writers * each {
		got := line(t, c)
		require.Len(t, got, 100_000)
		require.Equal(t, strings.Repeat(got[:1], 100_000), got)
	}
	all.Wait()
}

// A missing program is recognised, and only that.
// Proves: EF-02
func TestAProgramThatDoesNotRunIsAnError(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), mode))
		return path
	}
	unix := func(words string) string {
		if runtime.GOOS == "windows" {
			return "" // its endings decide which files are programs
		}
		return words
	}
	for name, c := range map[string]struct {
		config  child.Config
		missing bool
		words   string // "": those of the system
	}{
		"missing":        {child.Config{Path: filepath.Join(dir, "none"), Dir: dir}, true, "cannot start pi"},
		"not executable": {child.Config{Path: write("plain", "text", 0o644), Dir: dir}, false, unix("permission denied")},
		"no program":     {child.Config{Path: write("binary", "\x7fELF", 0o755), Dir: dir}, false, unix("exec format error")},
		"no interpreter": {child.Config{Path: write("script", "#!/no/such/node\n", 0o755), Dir: dir}, false, unix("interpreter")},
		"no folder":      {child.Config{Path: filepath.Join(dir, "sh"), Dir: filepath.Join(dir, "none")}, false, "folder"},
		"relative":       {child.Config{Path: "sh", Dir: dir}, false, "not absolute"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.config.Name = "pi"
			_, err := child.Start(t.Context(), c.config)
			require.Error(t, err)
			require.Contains(t, err.Error(), c.words)
			require.Equal(t, c.missing, errors.Is(err, fs.ErrNotExist))
		})
	}
}

func TestAnExitAtTheStartLeavesItsWords(t *testing.T) {
	t.Parallel()
	c := start(t, config(t, "exit 3"))
	noLine(t, c)
	require.Equal(t, child.Exit{Code: 3}, ended(t, c))
	require.Equal(t, "Error: it does not start", c.Stderr())
	require.ErrorIs(t, c.Write(t.Context(), []byte("x")), child.ErrEnded)
}

// All output that was sent is received, also if the child has ended long ago.
func TestOutputSurvivesTheChild(t *testing.T) {
	t.Parallel()
	c := start(t, config(t, "lines 12000"))
	for i := range 12000 { // they fit into a pipe
		require.Equal(t, fmt.Sprint(i), line(t, c))
		if i == 100 {
			child.EndWait(c)
		}
	}
	noLine(t, c)
	require.Equal(t, child.Exit{}, ended(t, c))
}

func TestTheRestOfTheOutputIsALine(t *testing.T) {
	t.Parallel()
	c := start(t, config(t, "half"))
	require.Equal(t, "whole", line(t, c))
	require.Equal(t, "half", line(t, c))
	noLine(t, c)
}

// A host that does not read stops the child, and can still close it.
func TestAHostThatDoesNotReadStopsTheChild(t *testing.T) {
	t.Parallel()
	cfg := config(t, "lines 1000000")
	cfg.InputGrace = limit
	c := start(t, cfg)
	select {
	case <-c.Done():
		require.FailNow(t, "it has ended, though nothing was read")
	case <-time.After(500 * time.Millisecond):
	}
	require.NoError(t, c.Close(t.Context()))
	require.Equal(t, child.Exit{}, c.Exit()) // by itself: its output was discarded
}

func TestALineOfTheLimitIsRead(t *testing.T) {
	t.Parallel()
	cfg := config(t, "long 1000000")
	cfg.MaxLine = 1_000_000
	c := start(t, cfg)
	require.Len(t, line(t, c), 1_000_000)
	require.Equal(t, "end", line(t, c))
}

// Proves: EF-14
func TestALineBeyondTheLimitEndsTheChild(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		does  string
		limit int
	}{
		"by a byte":    {"long 1000001", 1_000_000},
		"without end":  {"endless", 10 << 20},
		"the default":  {fmt.Sprintf("long %d", 70<<20), 0},
		"a short rest": {"half", 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := config(t, c.does)
			cfg.MaxLine = c.limit
			got := start(t, cfg)
			noLine(t, got)
			err := ended(t, got).Err
			require.ErrorIs(t, err, child.ErrTooLong)
			require.EqualError(t, err, "pi sent more than can be read at once")
			require.True(t, fault.Is(err, fault.Provider))
		})
	}
}

func TestALongLineBelowTheDefaultIsRead(t *testing.T) {
	t.Parallel()
	racetest.Large(t)
	c := start(t, config(t, fmt.Sprintf("long %d", 60<<20)))
	require.Len(t, line(t, c), 60<<20)
}

// A child that does not read ends, and so do all who wait to write.
// Proves: EF-15
func TestAChildThatDoesNotReadIsEnded(t *testing.T) {
	t.Parallel()
	cfg := config(t, "deaf")
	cfg.WriteLimit = 100 * time.Millisecond
	c := start(t, cfg)
	require.Equal(t, "ready", line(t, c))
	failed := make(chan error, 3)
	for range cap(failed) {
		go func() { failed <- c.Write(t.Context(), make([]byte, 1<<20)) }()
	}
	for range cap(failed) {
		require.ErrorIs(t, <-failed, child.ErrEnded)
	}
	err := ended(t, c).Err
	require.ErrorIs(t, err, child.ErrNotReading)
	require.EqualError(t, err, "pi does not read what it is sent")
}

// The end of a context leaves no half line behind.
func TestACancelledWriteIsWhole(t *testing.T) {
	t.Parallel()
	c := start(t, config(t, "hesitant"))
	long := strings.Repeat("x", 8<<20) // more than a pipe holds
	ctx, cancel := context.WithCancel(t.Context())
	written := make(chan error, 1)
	go func() { written <- c.Write(ctx, []byte(long)) }()
	require.Equal(t, "began", line(t, c)) // and it reads on only when its next line was received
	cancel()
	require.Error(t, <-written)
	require.Error(t, c.Write(ctx, []byte("not sent")))
	require.Len(t, line(t, c), 1<<20)
	require.Equal(t, long, line(t, c))
	require.NoError(t, c.Write(t.Context(), []byte("next")))
	require.Equal(t, "next", line(t, c))
}

func TestStandardErrorNeverBlocksTheChild(t *testing.T) {
	t.Parallel()
	c := start(t, config(t, "flood 50000"))
	require.Equal(t, "done", line(t, c))
	require.NoError(t, c.Close(t.Context()))
	text := c.Stderr()
	require.LessOrEqual(t, len(text), 16<<10)
	require.Greater(t, len(text), 15<<10)
	require.True(t, strings.HasPrefix(text, "warning "), "%.100s", text)
	require.Contains(t, text, "warning 49999 ")
}

// Nothing that controls a terminal, and no secret, is shown.
func TestStandardErrorIsSafeToShow(t *testing.T) {
	t.Parallel()
	secret := "sk-ant-api03-" + strings.Repeat("Ab3dEf9hIj", 9) + "-AAAAAA"
	cfg := config(t, `stderr \x1b[31mred`+"\x1b[0m\xff"+` key=`+secret+`\nown: correct-horse-battery-staple`)
	cfg.Env = append(cfg.Env, "MY_SERVICE_API_KEY=correct-horse-battery-staple")
	c := start(t, cfg)
	ended(t, c)
	text := c.Stderr()
	require.NotContains(t, text, secret)
	require.NotContains(t, text, "correct-horse")
	require.NotContains(t, text, "\x1b")
	require.Contains(t, text, `\u001b[0m\xff`)
	require.Contains(t, text, "\nown: ")
}

// Proves: EF-43
func TestCloseEndsAtTheEndOfTheInput(t *testing.T) {
	t.Parallel()
	c := start(t, config(t, "echo"))
	var all sync.WaitGroup
	for range 10 {
		all.Go(func() {
			if err := c.Close(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	require.Equal(t, child.Exit{}, c.Exit())
	require.NoError(t, c.Close(t.Context()))
	require.NoError(t, c.Kill())
	require.ErrorIs(t, c.Write(t.Context(), []byte("x")), child.ErrEnded)
}

func TestAnEndedContextStartsNothing(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := child.Start(ctx, config(t, "echo"))
	require.Error(t, err)
}

// The context of the start does not end the child.
func TestTheContextIsThatOfTheStart(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	c, err := child.Start(ctx, config(t, "echo"))
	require.NoError(t, err)
	cancel()
	require.NoError(t, c.Write(t.Context(), []byte("x")))
	require.Equal(t, "x", line(t, c))
	require.NoError(t, c.Close(t.Context()))
}
