package agent_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/approval"
	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// A proposal waits for the user in every approval mode; a change of the mode does not answer it.
func TestAProposalWaitsForTheUser(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		fs := afero.NewMemMapFs()
		m := scripted(writing("local://PLAN.md"), proposing("P"), writing("new.txt"), providertest.Reply{Text: "Done."})
		w := newWorld(t, fs, withModel(m), withFiles(fs, approval.Ask))
		s := w.live(t, "/w")
		_, err := s.Switch(t.Context(), planned(t, fs, planData))
		require.NoError(t, err)
		done := promptInBackground(t, s, "go")
		for _, mode := range []approval.Mode{approval.Yolo, approval.ReadOnly, approval.AutoEdit} {
			synctest.Wait()
			require.NoError(t, s.SetApproval(mode))
			synctest.Wait()
			snap, err := s.Snapshot(t.Context())
			require.NoError(t, err)
			require.Len(t, snap.Approvals, 1, mode)
			require.Contains(t, snap.Approvals[0].Preview.Diff, "+x")
			require.Equal(t, agent.PlanMode, state(t, s).Mode)
		}
		snap, err := s.Snapshot(t.Context())
		require.NoError(t, err)
		require.NoError(t, s.Deny(snap.Approvals[0].ID, "Not yet."))
		<-done
		requests := m.Requests()
		require.Contains(t, requests[2].Messages[len(requests[2].Messages)-1].PlainText(), "The user's reason: Not yet.")
		require.False(t, exists(t, fs, "/w/new.txt"))
		require.NoError(t, w.Close(t.Context()))
	})
}

// A stopped turn withdraws the question, and a late answer ends nothing.
func TestAWithdrawnProposalEndsNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		fs := afero.NewMemMapFs()
		m := scripted(writing("local://PLAN.md"), proposing("P"), providertest.Reply{Text: "Done."})
		w := newWorld(t, fs, withModel(m), withFiles(fs, approval.Ask))
		s := w.live(t, "/w")
		_, err := s.Switch(t.Context(), planned(t, fs, planData))
		require.NoError(t, err)
		done := promptInBackground(t, s, "go")
		synctest.Wait()
		snap, err := s.Snapshot(t.Context())
		require.NoError(t, err)
		_, _, err = s.Abort(t.Context())
		require.NoError(t, err)
		<-done
		require.Error(t, s.Approve(snap.Approvals[0].ID, approval.Once))
		require.Equal(t, agent.PlanMode, state(t, s).Mode)
		require.NoError(t, w.Close(t.Context()))
	})
}

// A link in place of the plan file, or of its directory, is not shown and not approved.
func TestALinkIsNoPlan(t *testing.T) {
	t.Parallel()
	for name, link := range map[string]func(t *testing.T, fs afero.Fs, dir, secret string){
		"the file": func(t *testing.T, _ afero.Fs, dir, secret string) {
			require.NoError(t, os.MkdirAll(filepath.Join(dir, "local"), 0o700))
			require.NoError(t, os.Symlink(secret, filepath.Join(dir, "local", "PLAN.md")))
		},
		"its directory": func(t *testing.T, _ afero.Fs, dir, secret string) {
			require.NoError(t, os.MkdirAll(dir, 0o700))
			require.NoError(t, os.Symlink(filepath.Dir(secret), filepath.Join(dir, "local")))
		},
		"a file of the folder": func(t *testing.T, fs afero.Fs, dir, secret string) {
			require.NoError(t, os.Symlink(secret, filepath.Join(filepath.Dir(dir), "plan.md")))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fs, dir := afero.NewOsFs(), t.TempDir()
			secret := filepath.Join(dir, "elsewhere", "PLAN.md")
			require.NoError(t, os.MkdirAll(filepath.Dir(secret), 0o700))
			require.NoError(t, os.WriteFile(secret, []byte("secret\n"), 0o600))
			data := planData
			if name == "a file of the folder" {
				data = `{"planFilePath":"plan.md"}`
			}
			path := filepath.Join(dir, "s.jsonl")
			require.NoError(t, os.WriteFile(path, []byte(st.File(st.Header("0190000000000001", dir), st.User("a0000000", "", "one"), st.Assistant("b0000000", "a0000000", "two"),
				`{"type":"mode_change","id":"c0000000","parentId":"b0000000","timestamp":"2026-01-01T00:00:00.000Z","mode":"plan","data":`+data+`}`)), 0o600))
			link(t, fs, strings.TrimSuffix(path, ".jsonl"), secret)
			m, u := scripted(proposing("P"), providertest.Reply{Text: "Done."}), &user{answer: approves}
			w := newWorld(t, fs, withModel(m), withFiles(fs, approval.Yolo), withUser(u))
			s := w.live(t, dir)
			_, err := s.Switch(t.Context(), path)
			require.NoError(t, err)
			prompt(t, s, "go")
			require.Contains(t, lastResult(t, m), "is a link or")
			require.Empty(t, u.prompts())
			require.Equal(t, agent.PlanMode, state(t, s).Mode)
			require.NoError(t, w.Close(t.Context()))
		})
	}
}

// A file with credentials, named as the plan file by a session of another user, is not shown.
func TestCredentialsAreNoPlan(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	require.NoError(t, afero.WriteFile(fs, "/w/.env", []byte("KEY=1\n"), 0o600))
	m, u := scripted(proposing("P"), providertest.Reply{Text: "Done."}), &user{answer: approves}
	w := newWorld(t, fs, withModel(m), withFiles(fs, approval.Yolo), withUser(u), func(c *agent.Config) {
		c.Sensitive = func(path string) bool { return path == "/w/.env" }
	})
	s := w.live(t, "/w")
	_, err := s.Switch(t.Context(), planned(t, fs, `{"planFilePath":".env"}`))
	require.NoError(t, err)
	prompt(t, s, "go")
	require.Contains(t, lastResult(t, m), "contains credentials")
	require.Empty(t, u.prompts())
	require.NoError(t, w.Close(t.Context()))
}

// In a session of oh-my-pi the model proposes a plan as it does there: it writes the plan's name to an
// address. Outside plan mode the address is none.
func TestAPlanIsProposedByWriting(t *testing.T) {
	t.Parallel()
	for name, content := range map[string]string{"a name": "auth\n", "an object": `{"title":"auth"}`, "with its end": "auth-plan.md"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fs, u := afero.NewMemMapFs(), &user{answer: approves}
			propose := providertest.Reply{ToolCalls: []providertest.Call{{Name: "write", Args: map[string]string{"path": "xd://propose", "content": content}}}}
			m := scripted(writing("local://auth-plan.md"), propose, writing("new.txt"), propose, providertest.Reply{Text: "Done."})
			w := newWorld(t, fs, withModel(m), withFiles(fs, approval.AutoEdit), withUser(u), func(c *agent.Config) {
				c.Store = session.NewStore(session.StoreConfig{Fs: fs, DirFor: c.Finder.DirFor, RootFor: func(string) (session.FileRoot, bool) {
					return session.FileRoot{Dialect: session.Omp}, true
				}})
			})
			s := w.live(t, "/w")
			path := planned(t, fs, planData)
			_, err := s.Switch(t.Context(), path)
			require.NoError(t, err)
			require.Equal(t, "omp", state(t, s).Origin)
			prompt(t, s, "go")
			require.Len(t, u.prompts(), 1)
			require.Equal(t, "exit_plan_mode", u.prompts()[0].Tool)
			require.Contains(t, u.prompts()[0].Preview.Diff, "+++ local://auth-plan.md")
			require.Contains(t, m.Requests()[0].System, "xd://propose")
			require.True(t, exists(t, fs, "/w/new.txt"))
			require.Contains(t, lastResult(t, m), "Nothing was read or changed")
			require.Equal(t, []string{"plan " + planData, "none"}, recordedModes(t, fs, path))
			require.NoError(t, w.Close(t.Context()))
		})
	}
}

// A disk that fails while the approval is recorded loses nothing: the mode is off in the running
// session, as the user decided, and the entry is written with the next one.
func TestAnApprovalOnABrokenDisk(t *testing.T) {
	t.Parallel()
	mem := afero.NewMemMapFs()
	var broken atomic.Bool
	fs := &st.FaultFs{Fs: mem, At: 1, Mode: st.Dead, On: func(_, name string) bool { return broken.Load() && strings.HasSuffix(name, ".jsonl") }}
	u := &user{answer: func(agent.Approval) (approval.Decision, error) {
		broken.Store(true)
		return approval.Once, nil
	}}
	m := scripted(writing("local://PLAN.md"), proposing("P"), writing("new.txt"), providertest.Reply{Text: "Done."})
	w := newWorld(t, fs, withModel(m), withFiles(fs, approval.AutoEdit), withUser(u))
	s := w.live(t, "/w")
	path := planned(t, mem, planData)
	_, err := s.Switch(t.Context(), path)
	require.NoError(t, err)
	prompt(t, s, "go")
	require.Equal(t, []string{"plan " + planData}, recordedModes(t, mem, path))
	require.Equal(t, agent.NoMode, state(t, s).Mode)
	require.NotEmpty(t, eventsOf[event.NotSaved](w))
	broken.Store(false)
	require.NoError(t, w.Close(t.Context()))
	require.Equal(t, []string{"plan " + planData, "none"}, recordedModes(t, mem, path))
}
