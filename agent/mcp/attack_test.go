//go:build unix

package mcp_test

import (
	"fmt"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// Processes that a server starts, also in sessions of their own and deaf to signals, end with it.
func TestTheChildrenOfAServerEndWithIt(t *testing.T) {
	t.Parallel()
	def, log := probeServer(t, "ok")
	k := begin(t, pi(), def)
	var pids []int
	for line := range strings.FieldsSeq(said(k.result("fork", `{}`))) {
		pid, err := strconv.Atoi(line)
		require.NoError(t, err)
		require.NoError(t, syscall.Kill(pid, 0))
		pids = append(pids, pid)
	}
	require.Len(t, pids, 2)
	k.finish()
	isGone(t, append(pids, starts(t, log)...)...)
}

// A server that dies leaves no process either.
func TestTheChildrenOfADeadServerEnd(t *testing.T) {
	t.Parallel()
	def, log := probeServer(t, "ok")
	k := begin(t, pi(), def)
	children := strings.Fields(said(k.result("fork", `{}`)))
	_, err := k.call(t.Context(), "die", `{}`)
	require.Error(t, err)
	for _, c := range children {
		pid, err := strconv.Atoi(c)
		require.NoError(t, err)
		isGone(t, pid)
	}
	isGone(t, starts(t, log)...)
}

// A server gets no key of this program, and its own values are in no error, log, state or result.
func TestNoSecretLeavesItsPlace(t *testing.T) {
	t.Parallel()
	const secret, ours = "correct-horse-battery", "sk-ant-of-this-program"
	def, _ := probeServer(t, "ok", "MY_TOKEN="+secret, "MODE=production")
	o := pi()
	o.Env = []string{"PATH=/usr/bin:/bin", "ANTHROPIC_API_KEY=" + ours, "AWS_SECRET_ACCESS_KEY=" + ours, "MY_OWN=" + ours, "HOME=/home/dev"}
	k := begin(t, o, def)
	environment := said(k.result("environment", `{}`))
	require.NotContains(t, environment, ours)
	require.NotContains(t, environment, secret)
	require.Contains(t, environment, "MY_TOKEN=[concealed]")
	require.Contains(t, environment, "MODE=production")
	require.Contains(t, environment, "HOME=/home/dev")
	for _, name := range []string{"error", "die"} {
		_, err := k.call(t.Context(), name, `{}`)
		require.Error(t, err)
		require.NotContains(t, err.Error(), secret)
		require.NotContains(t, fmt.Sprintf("%+v", err), secret)
	}
	eventually(t, func() bool { return !k.States()[0].Connected }, "the end")
	require.NotContains(t, fmt.Sprintf("%+v", k.States()), secret)
	for _, e := range k.logged.All() {
		require.NotContains(t, fmt.Sprint(e.Message, e.ContextMap()), secret)
	}
}

// A folder cannot choose the program by a relative directory in PATH, nor by a file of its own.
func TestTheFolderDoesNotChooseTheProgram(t *testing.T) {
	t.Parallel()
	def, _ := probeServer(t, "ok")
	def.Command, def.Env = "sh-of-the-folder", []string{"PATH=.:bin:"}
	k := begin(t, pi(), def)
	writeProgram(t, k.cwd+"/sh-of-the-folder")
	require.Empty(t, k.Tools(t.Context()))
	require.Contains(t, k.States()[0].Reason, "not found")
}
