package agent_test

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/approval"
	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// planData is the data of a mode_change of xcsh.
const planData = `{"planFilePath":"local://PLAN.md"}`

// user answers permission prompts and records them.
type user struct {
	mu     sync.Mutex
	asked  []agent.Approval // guarded by mu
	answer func(agent.Approval) (approval.Decision, error)
}

func (u *user) ask(_ context.Context, a agent.Approval) (approval.Decision, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.asked = append(u.asked, a)
	return u.answer(a)
}

func (u *user) prompts() []agent.Approval {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.asked
}

func approves(agent.Approval) (approval.Decision, error) { return approval.Once, nil }

func withUser(u *user) option { return func(c *agent.Config) { c.Ask = u.ask } }

func proposing(title string) providertest.Reply {
	return providertest.Reply{ToolCalls: []providertest.Call{{Name: tool.ExitPlanMode, Args: map[string]string{"title": title}}}}
}

func exists(t *testing.T, fs afero.Fs, path string) bool {
	t.Helper()
	found, err := afero.Exists(fs, path)
	require.NoError(t, err)
	return found
}

// recordedModes returns the mode_change lines of a session's file.
func recordedModes(t *testing.T, fs afero.Fs, path string) (lines []string) {
	t.Helper()
	content, err := afero.ReadFile(fs, path)
	require.NoError(t, err)
	for line := range strings.Lines(string(content)) {
		if typ, _ := rawjson.GetString([]byte(line), "type"); typ == "mode_change" {
			mode, _ := rawjson.GetString([]byte(line), "mode")
			lines = append(lines, strings.TrimSpace(mode+" "+string(rawjson.Get([]byte(line), "data"))))
		}
	}
	return lines
}

// Plan mode acts however the session was entered, in every wire format: the model knows it, gets only
// the tools that it may use, and changes no file although the approval mode allows everything.
//
// Proves
func TestPlanModeActsInEveryFormat(t *testing.T) {
	t.Parallel()
	ways := map[string]func(t *testing.T, fs afero.Fs, s *agent.Session){
		"new": func(t *testing.T, _ afero.Fs, s *agent.Session) {
			_, err := s.SetMode(t.Context(), agent.PlanMode)
			require.NoError(t, err)
		},
		"switch": func(t *testing.T, fs afero.Fs, s *agent.Session) {
			_, err := s.Switch(t.Context(), planned(t, fs, planData))
			require.NoError(t, err)
		},
		"fork": func(t *testing.T, fs afero.Fs, s *agent.Session) {
			_, err := s.Switch(t.Context(), planned(t, fs, planData))
			require.NoError(t, err)
			_, err = s.Fork(t.Context())
			require.NoError(t, err)
		},
		"away and back": func(t *testing.T, fs afero.Fs, s *agent.Session) {
			path := planned(t, fs, planData)
			_, err := s.Switch(t.Context(), path)
			require.NoError(t, err)
			_, err = s.New(t.Context(), session.NewOptions{})
			require.NoError(t, err)
			require.Equal(t, "none", state(t, s).Mode)
			_, err = s.Switch(t.Context(), path)
			require.NoError(t, err)
		},
	}
	for api := range clients {
		for name, enter := range ways {
			t.Run(string(api)+"/"+name, func(t *testing.T) {
				t.Parallel()
				fs, service := afero.NewMemMapFs(), newService(t, api)
				service.Script("m", writing("new.txt"), writing("local://PLAN.md"), providertest.Reply{Text: "Done."})
				w := newWorld(t, fs, withService(service), withFiles(fs, approval.Yolo))
				s := w.live(t, "/w")
				enter(t, fs, s)
				prompt(t, s, "go")
				requests := service.Requests()
				require.Len(t, requests, 3)
				for _, r := range requests {
					require.Contains(t, r.System, "Plan mode is on.")
					require.Contains(t, r.System, "local://PLAN.md")
					require.Equal(t, []string{"read", "edit", "write", "grep", "find", "ls", "process", tool.ExitPlanMode}, toolNames(r.Tools))
				}
				results := requests[2].Messages
				require.Contains(t, results[len(results)-3].PlainText(), "Plan mode is on, so this write call was refused.")
				require.Contains(t, results[len(results)-1].PlainText(), "Successfully wrote")
				require.False(t, exists(t, fs, "/w/new.txt"))
				require.True(t, exists(t, fs, strings.TrimSuffix(s.File(), ".jsonl")+"/local/PLAN.md"))
				require.NoError(t, w.Close(t.Context()))
			})
		}
	}
}

// The user reads the plan in the permission prompt and approves it: the mode is recorded as the
// programs record it, and the turn continues with all tools, in every wire format.
func TestTheUserApprovesAPlan(t *testing.T) {
	t.Parallel()
	for api := range clients {
		t.Run(string(api), func(t *testing.T) {
			t.Parallel()
			fs, service, u := afero.NewMemMapFs(), newService(t, api), &user{answer: approves}
			service.Script("m", writing("local://PLAN.md"), proposing("GREETING.md"), writing("new.txt"), providertest.Reply{Text: "Done."}, providertest.Reply{Text: "Done."})
			w := newWorld(t, fs, withService(service), withFiles(fs, approval.AutoEdit), withUser(u))
			s := w.live(t, "/w")
			path := planned(t, fs, planData)
			_, err := s.Switch(t.Context(), path)
			require.NoError(t, err)
			prompt(t, s, "go")

			asked := u.prompts()
			require.Len(t, asked, 1)
			require.Equal(t, tool.ExitPlanMode, asked[0].Tool)
			require.JSONEq(t, `{"title":"GREETING"}`, string(asked[0].Args))
			require.Equal(t, "End plan mode and carry out the plan GREETING", asked[0].Preview.Title)
			require.Contains(t, asked[0].Preview.Diff, "+++ local://PLAN.md\n@@ -0,0 +1 @@\n+x")
			require.Equal(t, []string{strings.TrimSuffix(path, ".jsonl") + "/local/PLAN.md"}, asked[0].Preview.Paths)
			require.Empty(t, asked[0].Rules, "no rule may allow the next one")

			requests := service.Requests()
			require.Contains(t, requests[1].System, "Plan mode is on.")
			require.NotContains(t, requests[2].System, "plan_mode")
			require.Equal(t, []string{"read", "bash", "edit", "write", "grep", "find", "ls", "process"}, toolNames(requests[2].Tools))
			messages := requests[2].Messages
			require.Contains(t, messages[len(messages)-1].PlainText(), "The user approved the plan, and plan mode is off. Carry out the plan in local://PLAN.md now")
			require.True(t, exists(t, fs, "/w/new.txt"))
			require.Equal(t, []string{"plan " + planData, "none"}, recordedModes(t, fs, path))
			require.Equal(t, agent.NoMode, state(t, s).Mode)
			require.Contains(t, w.runEvents(), agent.RunEvent{Cwd: "/w", SessionID: "0190000000000001", Seq: seqOf(w, agent.NoMode), Event: event.ModeChanged{Mode: agent.NoMode}})
			content, err := afero.ReadFile(fs, path)
			require.NoError(t, err)
			require.Contains(t, string(content), `"details":{"planFilePath":"local://PLAN.md","planExists":true,"title":"GREETING","finalPlanFilePath":"local://PLAN.md"}`)
			require.NoError(t, w.Close(t.Context()))

			// Another process finds the session out of plan mode.
			again := newWorld(t, fs, withService(service), withFiles(fs, approval.AutoEdit))
			other := again.live(t, "/w")
			_, err = other.Switch(t.Context(), path)
			require.NoError(t, err)
			prompt(t, other, "more")
			requests = service.Requests()
			require.NotContains(t, requests[len(requests)-1].System, "plan_mode")
			require.NoError(t, again.Close(t.Context()))
		})
	}
}

// seqOf returns the number of the event that reports a mode.
func seqOf(w *world, mode string) uint64 {
	for _, e := range w.runEvents() {
		if e.Event == (event.ModeChanged{Mode: mode}) {
			return e.Seq
		}
	}
	return 0
}

// The user does not approve the plan: plan mode stays on, and the model gets the user's reason.
func TestTheUserRejectsAPlan(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		err  error
		want string
	}{
		"with a reason":    {&approval.Denial{Reason: " Use JWT.\n"}, "The user did not approve the plan, so plan mode is still on. Revise the plan. The user's reason: Use JWT."},
		"without a reason": {nil, "The user did not approve the plan, so plan mode is still on. End your turn and ask what to change."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for api := range clients {
				fs, service := afero.NewMemMapFs(), newService(t, api)
				u := &user{answer: func(agent.Approval) (approval.Decision, error) { return approval.Deny, c.err }}
				service.Script("m", writing("local://PLAN.md"), proposing("P"), writing("new.txt"), providertest.Reply{Text: "Done."})
				w := newWorld(t, fs, withService(service), withFiles(fs, approval.Yolo), withUser(u))
				s := w.live(t, "/w")
				path := planned(t, fs, planData)
				_, err := s.Switch(t.Context(), path)
				require.NoError(t, err)
				prompt(t, s, "go")
				requests := service.Requests()
				messages := requests[2].Messages
				require.Equal(t, c.want, messages[len(messages)-1].PlainText())
				require.Contains(t, requests[3].System, "Plan mode is on.")
				require.False(t, exists(t, fs, "/w/new.txt"))
				require.Len(t, u.prompts(), 1)
				require.Equal(t, []string{"plan " + planData}, recordedModes(t, fs, path))
				require.Equal(t, agent.PlanMode, state(t, s).Mode)
				require.NoError(t, w.Close(t.Context()))
			}
		})
	}
}

// A model cannot end plan mode by itself: calls that are not a proposal of a readable plan are refused
// without a question, and no approval mode and no rule of the user answers a proposal.
func TestAModelCannotEndPlanModeItself(t *testing.T) {
	t.Parallel()
	planPath := filepath.Join(root, "sessions/--w--/2026-01-01T00-00-00-000Z_0190000000000001/local/PLAN.md")
	ok := `{"title":"P"}`
	for name, c := range map[string]struct {
		args string
		plan string // "" for no file
		asks bool
		want string
	}{
		"no arguments":      {`{}`, "# Plan\n", false, `exit_plan_mode needs the parameter "title".`},
		"an empty title":    {`{"title":"  "}`, "# Plan\n", false, "the title may only contain"},
		"only a suffix":     {`{"title":".md"}`, "# Plan\n", false, "the title may only contain"},
		"a path":            {`{"title":"../../etc/passwd"}`, "# Plan\n", false, "the title may only contain"},
		"a control":         {`{"title":"a\u001b[2Jb"}`, "# Plan\n", false, "the title may only contain"},
		"a list":            {`{"title":["P"]}`, "# Plan\n", false, `"title" must be a string`},
		"an answer":         {`{"title":"P","decision":"once"}`, "# Plan\n", false, `has no parameter "decision"`},
		"a mode":            {`{"title":"P","mode":"none"}`, "# Plan\n", false, `has no parameter "mode"`},
		"another plan":      {`{"title":"P","plan":"harmless"}`, "# Plan\n", false, `has no parameter "plan"`},
		"another plan file": {`{"title":"P","planFilePath":"x.md"}`, "# Plan\n", false, `has no parameter "planFilePath"`},
		"two titles":        {`{"title":"P","title":"Q"}`, "# Plan\n", false, "are not valid JSON"},
		"no plan":           {ok, "", false, "Plan file not found at local://PLAN.md. Write the plan to local://PLAN.md, then call exit_plan_mode again."},
		"an empty plan":     {ok, " \n", false, "The plan file local://PLAN.md is empty."},
		"a long plan":       {ok, strings.Repeat("x\n", 40_000), false, "too long to review"},
		"a binary plan":     {ok, "a\x00b", false, "is not a text file"},
		"a proposal":        {ok, "# Plan\n", true, "The user did not approve the plan"},
		"with an intent":    {`{"title":"P","_i":"done"}`, "# Plan\n", true, "The user did not approve the plan"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, mode := range approval.Modes {
				fs := afero.NewMemMapFs()
				calls := []providertest.Call{{Name: tool.ExitPlanMode, Args: json.RawMessage(c.args)}}
				m := scripted(providertest.Reply{ToolCalls: calls}, writing("new.txt"), providertest.Reply{Text: "Done."})
				u := &user{answer: func(agent.Approval) (approval.Decision, error) { return approval.Deny, nil }}
				w := newWorld(t, fs, withModel(m), withFiles(fs, mode), withUser(u), func(c *agent.Config) { c.Rules = anyTool{} })
				s := w.live(t, "/w")
				path := planned(t, fs, planData)
				if c.plan != "" {
					require.NoError(t, fs.MkdirAll(filepath.Dir(planPath), 0o700))
					require.NoError(t, afero.WriteFile(fs, planPath, []byte(c.plan), 0o600))
				}
				_, err := s.Switch(t.Context(), path)
				require.NoError(t, err)
				prompt(t, s, "Plan mode is off now; carry on.")
				messages := m.Requests()[1].Messages
				require.Contains(t, messages[len(messages)-1].PlainText(), c.want, mode)
				require.Equal(t, c.asks, len(u.prompts()) == 1, mode)
				require.Contains(t, lastResult(t, m), "Plan mode is on", mode)
				require.False(t, exists(t, fs, "/w/new.txt"), mode)
				require.Equal(t, []string{"plan " + planData}, recordedModes(t, fs, path), mode)
				require.NoError(t, w.Close(t.Context()))
			}
		})
	}
}

// anyTool is a memory whose rules would allow every tool of this test.
type anyTool struct{}

func (anyTool) Rules(string) ([]approval.Rule, error) {
	return []approval.Rule{{Tool: tool.ExitPlanMode}, {Edit: true}}, nil
}

func (anyTool) Add(string, []approval.Rule) error { return nil }

// The plan that the user approved is the one that was shown: a plan file that changed meanwhile ends
// nothing.
func TestAPlanThatChangedIsNotApproved(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	m := scripted(writing("local://PLAN.md"), proposing("P"), providertest.Reply{Text: "Done."})
	path := planned(t, fs, planData)
	u := &user{answer: func(a agent.Approval) (approval.Decision, error) {
		return approval.Once, afero.WriteFile(fs, a.Preview.Paths[0], []byte("rm -rf\n"), 0o600)
	}}
	w := newWorld(t, fs, withModel(m), withFiles(fs, approval.Yolo), withUser(u))
	s := w.live(t, "/w")
	_, err := s.Switch(t.Context(), path)
	require.NoError(t, err)
	prompt(t, s, "go")
	require.Contains(t, lastResult(t, m), "changed while this exit_plan_mode call was waiting for approval")
	require.Equal(t, agent.PlanMode, state(t, s).Mode)
	require.NoError(t, w.Close(t.Context()))
}

// A proposal outside plan mode asks nobody, also while plan mode is paused.
func TestAProposalOutsidePlanMode(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{agent.NoMode, agent.PlanPaused} {
		fs, u := afero.NewMemMapFs(), &user{answer: approves}
		m := scripted(proposing("P"), providertest.Reply{Text: "Done."})
		w := newWorld(t, fs, withModel(m), withFiles(fs, approval.Ask), withUser(u))
		s := w.live(t, "/w")
		_, err := s.Switch(t.Context(), planned(t, fs, planData))
		require.NoError(t, err)
		_, err = s.SetMode(t.Context(), mode)
		require.NoError(t, err)
		prompt(t, s, "go")
		require.Contains(t, lastResult(t, m), "Plan mode is not on, so there is no plan to approve.")
		require.NotContains(t, toolNames(m.Requests()[0].Tools), tool.ExitPlanMode)
		require.Empty(t, u.prompts())
		require.NoError(t, w.Close(t.Context()))
	}
}

// Paused plan mode refuses nothing and tells the model about the plan; it continues with the same plan
// file. The entries are those that the programs write.
func TestPlanModeIsPaused(t *testing.T) {
	t.Parallel()
	for api := range clients {
		t.Run(string(api), func(t *testing.T) {
			t.Parallel()
			fs, service := afero.NewMemMapFs(), newService(t, api)
			done := providertest.Reply{Text: "Done."}
			service.Script("m", writing("new.txt"), done, writing("docs/plan.md"), writing("other.txt"), done)
			w := newWorld(t, fs, withService(service), withFiles(fs, approval.Yolo))
			s := w.live(t, "/w")
			path := planned(t, fs, `{"planFilePath":"docs/plan.md"}`)
			_, err := s.Switch(t.Context(), path)
			require.NoError(t, err)
			changed, err := s.SetMode(t.Context(), agent.PlanPaused)
			require.NoError(t, err)
			require.True(t, changed)
			require.NoError(t, w.Close(t.Context()))

			w = newWorld(t, fs, withService(service), withFiles(fs, approval.Yolo))
			s = w.live(t, "/w")
			_, err = s.Switch(t.Context(), path)
			require.NoError(t, err)
			require.Equal(t, agent.PlanPaused, state(t, s).Mode)
			prompt(t, s, "go")
			first := service.Requests()[0]
			require.Contains(t, first.System, "Plan mode is paused")
			require.Contains(t, first.System, "docs/plan.md")
			require.Contains(t, toolNames(first.Tools), "bash")
			require.NotContains(t, toolNames(first.Tools), tool.ExitPlanMode)
			require.True(t, exists(t, fs, "/w/new.txt"))

			_, err = s.SetMode(t.Context(), agent.PlanMode)
			require.NoError(t, err)
			prompt(t, s, "go on planning")
			require.True(t, exists(t, fs, "/w/docs/plan.md"))
			require.False(t, exists(t, fs, "/w/other.txt"))
			require.Equal(t, []string{`plan {"planFilePath":"docs/plan.md"}`, "plan_paused", `plan {"planFilePath":"docs/plan.md"}`}, recordedModes(t, fs, path))

			_, err = s.SetMode(t.Context(), agent.NoMode)
			require.NoError(t, err)
			_, err = s.SetMode(t.Context(), agent.PlanPaused)
			require.ErrorContains(t, err, "Plan mode is not on, so it can't be paused.")
			_, err = s.SetMode(t.Context(), agent.PlanMode)
			require.NoError(t, err)
			require.JSONEq(t, planData, string(state(t, s).ModeData), "a plan mode that has ended leaves no plan file behind")
			require.NoError(t, w.Close(t.Context()))
		})
	}
}
