//go:build !noteam && unix

package main

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/team/pg/pgtest"
)

// The steps of docs/team.md, as they are printed there, make a store in which a user shares a project and another one sees the session.
func TestTheGuideOfAnAdministrator(t *testing.T) {
	t.Parallel()
	guide, err := os.ReadFile("../../docs/team.md")
	require.NoError(t, err)
	_, steps, found := strings.Cut(string(guide), "\n## Set up a store\n")
	require.True(t, found)
	steps, _, found = strings.Cut(steps, "\n### Upkeep\n")
	require.True(t, found)

	d := pgtest.Empty(t)
	owner := newHome(t, d, d.Superuser())
	defer d.Psql(t, "DROP OWNED BY ann, kim; DROP ROLE ann, kim;") // roles are of the cluster, which other tests share
	ran := 0
	for _, block := range regexp.MustCompile("(?s)```(sh|sql)\n(.*?)```").FindAllStringSubmatch(steps, -1) {
		if block[1] == "sql" {
			d.Psql(t, block[2])
			continue
		}
		for line := range strings.Lines(strings.TrimSpace(block[2])) {
			args := strings.Fields(line)
			if args[0] == "export" {
				continue // the address of the test is in the environment
			}
			require.Equal(t, "xcsh-ls", args[0], line)
			owner.says(args[1:]...)
			ran++
		}
	}
	require.Equal(t, 4, ran, "init, two grants, and doctor")

	ann, kim := newHome(t, d, "ann"), newHome(t, d, "kim")
	ann.shares()
	ann.says("run", "--model", "offline/demo", "a question")
	require.Contains(t, kim.says("team", "list"), "a question")
}
