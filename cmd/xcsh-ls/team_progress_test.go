//go:build !noteam && unix

package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
)

// A pull from a slow store shows its progress on a terminal. The path of the file goes to standard output, and nothing else.
func TestAPullShowsItsProgress(t *testing.T) {
	t.Parallel()
	d, ann, kim := teamOf(t)
	owner := newHome(t, d, ann)
	owner.shares()
	owner.Script("m", providertest.Reply{Text: "One."})
	owner.says("run", "--model", "fake/m", "first prompt")

	mate := newHome(t, d, kim)
	store := d.Connect(t, d.Superuser())
	_, err := store.Exec(t.Context(), `begin; lock table xcsh.segment in access exclusive mode`)
	require.NoError(t, err)
	var stdout bytes.Buffer
	r := mate.terminal(usual, func(r *onTerminal) { r.Stdout = &stdout }, "team", "pull", "--project")
	r.await("Pulling 1 of 1")
	_, err = store.Exec(t.Context(), `rollback`)
	require.NoError(t, err)
	code, shown := r.end()
	require.Zero(t, code, shown)
	path, content := mate.file()
	require.Equal(t, path+"\n", stdout.String())
	require.Contains(t, content, "first prompt")
	require.Regexp(t, `^first prompt: [0-9]+ bytes pulled$`, seen(strings.TrimRight(shown, "\r\n")), "nothing is left of the bar")
}
