//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/commands"
)

// On a terminal, the progress of an import is a line that is gone when the result is printed.
func TestProgressOnATerminal(t *testing.T) { //nolint:paralleltest // it changes the environment
	t.Setenv("TERM", "xterm-256color")
	user, device, err := pty.Open()
	require.NoError(t, err)
	defer func() { _, _ = user.Close(), device.Close() }()
	require.NoError(t, pty.Setsize(user, &pty.Winsize{Rows: 24, Cols: 40}))
	reader := withDeadlines(t, user)
	c := testClock{time: time.Unix(1, 0)}
	var ui commands.UI = shellUI{line: lineOn(device), clock: c.clock()}
	p := ui.Progress(t.Context(), "Importing")
	p.Report("early.jsonl", 0)
	c.pass(barDelay)
	c.pass(barInterval)
	p.Report("second.jsonl", 50)
	p.End("2 imported")
	_, err = device.WriteString("imported\n")
	require.NoError(t, err)
	var got strings.Builder
	require.NoError(t, reader.SetReadDeadline(time.Now().Add(time.Minute))) // it hangs otherwise
	for piece := make([]byte, 4096); !strings.Contains(got.String(), "imported\r\n"); {
		n, err := reader.Read(piece)
		got.Write(piece[:n])
		require.NoError(t, err)
	}
	first := "Importing  [------------------------]   0%  early.jsonl"[:38] + "…"
	second := "Importing  [############------------]  50%  second.jsonl"[:38] + "…"
	erased := "\r" + strings.Repeat(" ", 39) + "\r"
	require.Equal(t, first+erased+second+erased+"imported\r\n", got.String())
}

// The program shows tables in color on a terminal, and not with NO_COLOR or on a dumb one. In a pipe, nothing changes.
func TestColorsOfTheProgram(t *testing.T) {
	t.Parallel()
	m := newMachine(t, formats[0])
	m.saved("修复测试")
	for set, colored := range map[string]bool{"CLICOLOR_FORCE=1": true, "NO_COLOR=1": false, "TERM=dumb": false} {
		r := m.terminal(usual, func(r *onTerminal) { r.Env = append(r.Env, set) }, "list")
		code, said := r.end()
		require.Zero(t, code)
		require.Contains(t, said, "NAME")
		require.Contains(t, said, "修复测试")
		require.Equal(t, colored, strings.Contains(said, bold+"NAME"+unstyled), "%s: %q", set, said)
		require.Equal(t, colored, strings.Contains(said, "\x1b"), "%s: %q", set, said)
	}
	m.env = append(m.env, "TERM=xterm-256color", "CLICOLOR_FORCE=1")
	code, said, _ := m.run("list")
	require.Zero(t, code)
	require.Equal(t, "0190000000000000\t修复测试\t1h ago\t1 message\n", strings.ReplaceAll(said, "2 messages", "1 message"))
}

// The progress of a dump continues while a file is written. A pager that reads a pipe has the terminal for itself.
func TestOnlyFilesAreWrittenBesideABar(t *testing.T) {
	t.Parallel()
	user, device, err := pty.Open()
	require.NoError(t, err)
	defer func() { _, _ = user.Close(), device.Close() }()
	reader, writer, err := os.Pipe()
	require.NoError(t, err)
	defer func() { _, _ = reader.Close(), writer.Close() }()
	file, err := os.Create(filepath.Join(t.TempDir(), "text"))
	require.NoError(t, err)
	defer func() { _ = file.Close() }()
	require.True(t, isFile(file))
	require.False(t, isFile(writer))
	require.False(t, isFile(device))
}
