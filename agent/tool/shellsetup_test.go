package tool_test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/tool"
)

// A conversation's commands run in the user's shell, after the user's lines, with the variables of the session.
func TestTheUsersShell(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("scripts have no interpreter")
	}
	w := diskWorld(t, tool.Options{}, nil)
	shell := filepath.Join(t.TempDir(), "shell")
	require.NoError(t, os.WriteFile(shell, []byte("#!/bin/sh\necho mine\nexec /bin/sh \"$@\"\n"), 0o700))
	w.env.Shell = tool.ShellSetup{Program: shell, Prefix: "x=1\necho before", Variables: []string{"PI_MODEL=m"}}
	require.Equal(t, "mine\nbefore\n1 m\n", w.ok("bash", `{"command":"echo $x $PI_MODEL"}`))
	for program, want := range map[string]string{
		"shell": "The shell must be an absolute path, not shell.", shell + "-missing": "cannot be run", filepath.Dir(shell): "cannot be run",
	} {
		w.env.Shell = tool.ShellSetup{Program: program}
		_, err := w.call("bash", `{"command":"true"}`)
		require.ErrorContains(t, err, want)
	}
}
