package bench_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/bench/wire/suite"
	"github.com/xcsh-ls/xcsh-ls/commands"
)

// unmeasured are the commands that read, and whose costs don't grow with a session or a list of them, or are measured elsewhere.
var unmeasured = map[string]string{
	"xcsh.artifact":  "it reads one file, beside the session",
	"xcsh.exists":    "it looks for one file",
	"xcsh.change":    "it reads one file, and one content beside the session",
	"xcsh.history":   "its database is measured by the benchmarks of this package",
	"xcsh.models":    "the catalog is part of the program",
	"xcsh.providers": "the catalog is part of the program",
	"xcsh.setup":     "it reads the files of a set-up, of no session",

	"xcsh.team.status": "it reads memory only",
	"xcsh.team.follow": "what it shows is limited, and comes from the network",

	"xcsh.commandsList": "it reads the files of a set-up, of no session",
	"xcsh.trash":        "it reads the beginnings and ends of the files in the trash, as the measured xcsh.list does",
}

// A new command that reads needs a row, or a reason why its cost cannot grow with a session.
func TestEveryReadingCommandIsMeasured(t *testing.T) {
	t.Parallel()
	measured := map[string]bool{}
	for _, name := range suite.Commands() {
		measured[name] = true
	}
	exists := map[string]bool{}
	for _, spec := range commands.Default.Specs() {
		exists[spec.Name] = true
		if spec.Flags.Has(commands.ReadOnly) {
			require.NotEqual(t, measured[spec.Name], unmeasured[spec.Name] != "", "%s needs a row in bench/wire/suite or a reason in this test, and not both", spec.Name)
		}
	}
	for name := range unmeasured {
		require.True(t, exists[name], "%s does not exist", name)
	}
}
