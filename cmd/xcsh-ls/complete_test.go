package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/approval"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
)

// A flag has a rule for its values, or takes any text, number or file.
func TestFlagsAreCompleted(t *testing.T) {
	t.Parallel()
	free := strings.Fields(`before branch name plan policy project read-only redo retries retry-limit team terminal-id to wait
		except newest older-than output partitions export log-file salvage shell-path`)
	everyCommand(t, func(t *testing.T, c *cobra.Command) {
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			_, ruled := c.GetFlagCompletionFunc(f.Name)
			if f.Value.Type() == "bool" || !ours(c) {
				return
			}
			require.NotEqual(t, ruled, slices.Contains(free, f.Name), "--%s", f.Name)
		})
	})
}

func TestShellsCompleteValues(t *testing.T) {
	t.Parallel()
	m := newMachine(t, formats[0])
	m.saved("one")
	first := func(args ...string) []string {
		code, stdout, stderr := m.run(append([]string{"__complete"}, args...)...)
		require.Zero(t, code, stderr)
		lines := strings.Split(strings.TrimSpace(stdout), "\n")
		return lines[:len(lines)-1] // the last one says how to use them
	}
	require.Equal(t, approvalModes(), first("run", "--approval", ""))
	require.Equal(t, thinkingLevels(), first("--thinking", ""))
	require.Equal(t, []string{"html", "markdown", "text", "jsonl", "agentBase"}, first("export", "--format", ""))
	require.Equal(t, []string{"debug", "info", "warn", "error"}, first("list", "--log-level", ""))
	require.Equal(t, []string{"offline/demo\tOffline demo (no AI)"}, first("run", "--model", "offline/"))
	require.Contains(t, first("run", "--engine", ""), "own")
	for _, command := range []string{"dump", "export", "context", "doctor", "changes", "rewind"} {
		require.Equal(t, []string{"0190000000000000\tone, 1h ago"}, first(command, ""), command)
	}
	require.Empty(t, first("export", "0190", ""), "a file")
	require.Empty(t, first("dump", "0190", ""))
}

// The values that shells complete are those that the program takes.
func TestChoicesAreThoseOfTheProgram(t *testing.T) {
	t.Parallel()
	require.Equal(t, approvalModes(), choices["approval"])
	require.Equal(t, thinkingLevels(), choices["thinking"])
	for _, value := range choices["sandbox"] {
		require.NoError(t, (&flags{sandbox: value}).check())
	}
}

func approvalModes() (all []string) {
	for _, mode := range approval.Modes {
		all = append(all, string(mode))
	}
	return all
}

func thinkingLevels() (all []string) {
	for _, level := range provider.Levels {
		all = append(all, string(level))
	}
	return all
}

func TestVersionFlag(t *testing.T) {
	t.Parallel()
	m := newMachine(t, formats[0])
	_, command, _ := m.run("version")
	code, flag, _ := m.run("--version")
	require.Zero(t, code)
	require.Equal(t, command, flag)
}
