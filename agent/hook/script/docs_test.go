//go:build unix

package script_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/hook"
	"github.com/xcsh-ls/xcsh-ls/agent/hook/script"
)

func docs(t *testing.T) string {
	t.Helper()
	return read(t, "../../../docs/hooks.md")
}

func TestTheTableOfEventsIsThatOfTheCode(t *testing.T) {
	t.Parallel()
	_, table, _ := strings.Cut(docs(t), "<!-- events -->\n")
	table, _, _ = strings.Cut(table, "\n\n")
	var names []hook.Name
	for _, row := range strings.Split(table, "\n")[2:] {
		cells := strings.Split(row, "|")
		name := hook.Name(strings.Trim(cells[1], " `"))
		names = append(names, name)
		require.Equal(t, map[bool]string{true: "yes", false: "no"}[name.Asks()], strings.TrimSpace(cells[3]), name)
	}
	require.Equal(t, hook.Names(), names)
}

func TestTheTimesAreThoseOfTheCode(t *testing.T) {
	t.Parallel()
	ask, compact, notify, drain := script.New(script.Config{}).Limits()
	var times []time.Duration
	for _, m := range regexp.MustCompile(`\*\*(\d+) seconds\*\*`).FindAllStringSubmatch(docs(t), -1) {
		d, err := time.ParseDuration(m[1] + "s")
		require.NoError(t, err)
		times = append(times, d)
	}
	require.Equal(t, []time.Duration{ask, notify, drain}, times)
	require.Contains(t, docs(t), fmt.Sprintf("**%d minutes** before a compaction", int(compact.Minutes())))
}

// The example is the starting point of users, so it is run, on a Friday and on another day.
// Proves: E-10
func TestTheExampleWorks(t *testing.T) {
	t.Parallel()
	_, example, _ := strings.Cut(docs(t), "<!-- example -->\n```sh\n")
	example, _, found := strings.Cut(example, "```")
	require.True(t, found)
	require.LessOrEqual(t, strings.Count(example, "\n"), 10)
	for day, friday := range map[string]bool{"4": false, "5": true} {
		t.Run(day, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			home := filepath.Dir(w.dir)
			today := filepath.Join(home, "bin")
			require.NoError(t, os.Mkdir(today, 0o700))
			write(t, today+"/date", "#!/bin/sh\n[ \"$*\" = +%u ] && echo "+day+"\n", 0o700)
			write(t, w.dir+"/fridays.real", example, 0o600)
			// The environment is set here and not for the test, which would then have to be alone.
			w.put(t, "fridays.sh", `HOME=`+home+` PATH=`+today+`:$PATH exec sh "${0%.sh}.real"`)

			want := hook.Decision{}
			if friday {
				want = hook.Decision{Cancel: true, By: "fridays.sh", Reason: "No forks on Fridays."}
				require.Contains(t, docs(t), want.String())
			}
			require.Equal(t, want, w.ask(t))
			w.After(t.Context(), w.event(hook.Tree))
			w.Close(t.Context())
			log := read(t, home+"/sessions.log")
			require.Equal(t, !friday, strings.Contains(log, `{"type":"session_before_fork","cwd":"`))
			require.Contains(t, log, `{"type":"session_tree","cwd":"`)
			require.Empty(t, w.allReports())
		})
	}
}

// TestTheExampleOfEntriesWorks: on a branch with a ticket the model gets a message, elsewhere nothing.
func TestTheExampleOfEntriesWorks(t *testing.T) {
	t.Parallel()
	_, example, _ := strings.Cut(docs(t), "<!-- entries example -->\n```sh\n")
	example, _, found := strings.Cut(example, "```")
	require.True(t, found)
	for branch, content := range map[string]string{"ABC-12-parser": `"This work belongs to the ticket ABC-12."`, "main": ""} {
		t.Run(branch, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			bin := filepath.Join(filepath.Dir(w.dir), "bin")
			require.NoError(t, os.Mkdir(bin, 0o700))
			write(t, bin+"/git", "#!/bin/sh\n[ \"$*\" = 'branch --show-current' ] && echo "+branch+"\n", 0o700)
			write(t, w.dir+"/ticket.real", example, 0o600)
			w.put(t, "ticket.sh", `PATH=`+bin+`:$PATH exec sh "${0%.sh}.real"`)
			added := w.collect()
			w.After(t.Context(), w.event(hook.Start))
			w.After(t.Context(), w.event(hook.Tree))
			w.Close(t.Context())
			require.Empty(t, w.allReports())
			if content == "" {
				require.Empty(t, added())
				return
			}
			require.Equal(t, []addition{{w.event(hook.Start), "ticket.sh", []hook.Entry{
				{Type: hook.CustomMessage, CustomType: "ticket", Content: []byte(content), Display: true},
			}}}, added())
		})
	}
}
