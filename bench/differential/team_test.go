//go:build peers && unix && !noteam

package differential

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
	"github.com/xcsh-ls/xcsh-ls/team/pg/pgtest"
)

// member is a user of a team at one of their machines, with a clone of the project.
type member struct {
	*user
	url string // of the store
}

// newMember returns a machine of a role at which the user shares the project.
func newMember(t *testing.T, d *pgtest.Database, role string) member {
	t.Helper()
	m := member{newUserWithoutPrograms(t), fmt.Sprintf("postgres://%s@127.0.0.1:%d/%s?sslmode=disable", role, d.Port(), d.Name())}
	m.models(filepath.Join(m.home, ".xcsh", "agent"), m.service.URL(provider.AnthropicMessages))
	m.write("work/.git/HEAD", "ref: refs/heads/main\n")
	m.write("work/.git/config", "[remote \"origin\"]\n\turl = https://github.com/acme/web\n")
	for _, dir := range []string{"work/.git/objects", "work/.git/refs", "home/.pi/agent/sessions", "home/.omp/agent/sessions"} {
		require.NoError(t, os.MkdirAll(filepath.Join(filepath.Dir(m.home), dir), 0o700))
	}
	return m
}

// says runs the built program, which must succeed, and returns its output.
func (m member) says(args ...string) string {
	m.t.Helper()
	path, err := server()
	require.NoError(m.t, err)
	var errs strings.Builder
	cmd := exec.CommandContext(m.t.Context(), path, args...)
	cmd.Dir, cmd.Stderr = m.work, &errs
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + m.home, "TERM=dumb", "XCSH_LS_NO_DETECT=1", "XCSH_TEAM_URL=" + m.url}
	out, err := cmd.Output()
	require.NoError(m.t, err, "%v\n%s%s", args, out, errs.String())
	return string(out)
}

// shares agrees to share the project.
func (m member) shares() {
	m.t.Helper()
	var plan struct{ PlanToken string }
	require.NoError(m.t, json.Unmarshal([]byte(m.says("team", "share", "--json")), &plan))
	m.says("team", "share", "--yes", "--plan", plan.PlanToken)
}

// continues lets a program continue its newest session of the folder, or the one in file, with a prompt. It returns the file.
func (m member) continues(p program, file, prompt string) string {
	m.t.Helper()
	command := p.command
	if file == "" {
		p.command = func(t *testing.T) []string {
			t.Helper()
			return append(command(t), "--continue")
		}
	}
	m.service.Script("theirs", providertest.Reply{Text: "Answer to " + prompt + "."})
	c := startProgram(m.t, p, m.service, m.home, m.work, file)
	c.prompt(prompt, "Answer to "+prompt+".")
	c.stop()
	return c.file
}

// sessionBody returns the bytes behind the header of a session file.
func (m member) sessionBody(file string) string {
	m.t.Helper()
	content, err := os.ReadFile(file)
	require.NoError(m.t, err)
	for {
		first, rest, found := strings.Cut(string(content), "\n")
		require.True(m.t, found)
		if strings.Contains(first, `"type":"session"`) {
			return rest
		}
		content = []byte(rest) // omp's line with the title
	}
}

// requireSeen requires that a request to the machine's service contains exactly these prompts in their order. omp sends others for a title.
func (m member) requireSeen(prompts ...string) {
	m.t.Helper()
	var all [][]string
	for _, r := range m.service.Requests() {
		var seen []string
		for _, message := range r.Messages {
			text := message.PlainText()
			if text = text[strings.LastIndexByte(text, '\n')+1:]; slices.Contains(prompts, text) { // omp begins the first one with the date
				seen = append(seen, text)
			}
		}
		all = append(all, seen)
	}
	require.Contains(m.t, all, prompts)
}

// newTeam returns a store with two users of one team.
func newTeam(t *testing.T) (d *pgtest.Database, ann, kim string) {
	t.Helper()
	d = pgtest.New(t)
	ann, kim = d.Role(t, "ann", false), d.Role(t, "kim", false)
	owner := newMember(t, d, d.Superuser())
	for _, role := range []string{ann, kim} {
		owner.says("team", "grant", role, "--team", "core")
	}
	return d, ann, kim
}

// A session of a terminal program is sent from one machine, and the same program on another machine continues it as its own newest
// session. The lines come back to the first machine, where the program continues it again. All bytes behind the header are the same on
// both machines.
func TestATerminalContinuesAPulledSession(t *testing.T) {
	t.Parallel()
	for _, p := range []program{piProgram, ompProgram} {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			d, ann, _ := newTeam(t)
			one, two := newMember(t, d, ann), newMember(t, d, ann)
			one.shares()
			two.shares()
			one.service.Script("theirs", providertest.Reply{Text: "Answer to one."})
			c := startProgram(t, p, one.service, one.home, one.work, "")
			c.prompt("one", "Answer to one.")
			c.stop()
			here := c.file
			one.says("team", "push")

			there := strings.TrimSpace(two.says("team", "pull", "--project", "--newest", "1"))
			require.True(t, strings.HasPrefix(there, filepath.Join(two.home, "."+p.name, "agent", "sessions")), there)
			require.Equal(t, one.sessionBody(here), two.sessionBody(there))
			for i, prompt := range []string{"two", "three", "four", "five"} {
				from, to, file, other := two, one, there, here
				if i%2 == 1 {
					from, to, file, other = one, two, here, there
				}
				// omp moves the files of a folder to a directory with its own name for it.
				continued := from.continues(p, "", prompt)
				require.Equal(t, filepath.Base(file), filepath.Base(continued), "it is the newest session there")
				if file = continued; i%2 == 0 {
					there = file
				} else {
					here = file
				}
				from.requireSeen([]string{"one", "two", "three", "four", "five"}[:i+2]...)
				require.True(t, strings.HasPrefix(from.sessionBody(file), to.sessionBody(other)))
				from.says("team", "push")
				require.Equal(t, other, strings.TrimSpace(to.says("team", "pull", "--project", "--newest", "1")))
				require.Equal(t, from.sessionBody(file), to.sessionBody(other))
			}
			require.Equal(t, 1, pgtest.Value[int](t, d, `select count(*)::int from xcsh.session`), "no fork")
		})
	}
}

// A session of this program is pulled by a colleague, whose pi opens the file and adds to it. It comes back to its owner.
func TestPiContinuesAPulledSessionOfOurs(t *testing.T) {
	t.Parallel()
	d, ann, kim := newTeam(t)
	owner, mate := newMember(t, d, ann), newMember(t, d, kim)
	owner.shares()
	mate.shares()
	owner.service.Script("theirs", providertest.Reply{Text: "Ours."}, providertest.Reply{Text: "Ours again."})
	owner.says("run", "--model", "fake/theirs", "one")
	file := strings.TrimSpace(mate.says("team", "pull", "--project", "--newest", "1"))
	require.Equal(t, file, mate.continues(piProgram, file, "two"))
	mate.requireSeen("one", "two")
	mate.says("team", "push")
	back := strings.TrimSpace(owner.says("team", "pull", "--project", "--newest", "1"))
	require.Equal(t, mate.sessionBody(file), owner.sessionBody(back))
	d.Exec(t, `update xcsh.tip set until = now()`) // 30 seconds pass, in which only the colleague may write
	owner.says("run", "--continue", "--model", "fake/theirs", "three")
	owner.requireSeen("one", "two", "three")
}
