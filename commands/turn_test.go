package commands_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/provider/catalog"
	"github.com/xcsh-ls/xcsh-ls/agent/provider/offline"
	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// withModels lets sessions choose among the models that the program knows. None has a key, and the
// offline demo answers.
func withModels(fs afero.Fs) func(*agent.Config) {
	return func(c *agent.Config) {
		c.Models = &catalog.Catalog{
			Fs: fs, AgentDirs: []string{agentDir}, Getenv: func(string) string { return "" },
			Services: map[provider.API]provider.Provider{provider.Scripted: offline.Provider{Now: time.Now}},
		}
	}
}

// withDemo lets sessions use the offline demo.
func withDemo(fs afero.Fs) func(*agent.Config) {
	return func(c *agent.Config) {
		withModels(fs)(c)
		c.Defaults.Model = "offline/demo"
	}
}

func TestPromptArguments(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	for name, tc := range map[string]struct {
		args  args
		kind  fault.Kind
		field string
	}{
		"nothing to say":            {args{}, fault.ArgumentNeeded, "text"},
		"an image without data":     {args{"text": "x", "images": []args{{"data": "", "mimeType": "image/png"}}}, fault.InvalidArgument, "images.0"},
		"an image that is none":     {args{"text": "x", "images": []args{{"data": "AAAA", "mimeType": "image/png"}, {"data": "AAAA", "mimeType": "text/plain"}}}, fault.InvalidArgument, "images.1"},
		"an image of another kind":  {args{"text": "x", "images": []args{{"data": "AAAA", "mimeType": "image/svg+xml"}}}, fault.InvalidArgument, "images.0"},
		"an image in no base64":     {args{"text": "x", "images": []args{{"data": "not base64!", "mimeType": "image/png"}}}, fault.InvalidArgument, "images.0"},
		"nothing but white space":   {args{"text": " \n\t"}, fault.ArgumentNeeded, "text"},
		"an image without a type":   {args{"images": []args{{"data": "AAAA"}}}, fault.InvalidArgument, "images.0"},
		"an image with a wrong one": {args{"images": []args{{"data": 5}}}, fault.InvalidArgument, "images.0.data"},
		"an odd range":              {args{"attachments": []args{{"uri": "a", "range": 5}}}, fault.InvalidArgument, "attachments.0.range"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, command := range []string{"xcsh.prompt", "xcsh.steer", "xcsh.followUp"} {
				if _, ok := tc.args["attachments"]; ok && command != "xcsh.prompt" {
					continue
				}
				env := newEnv(fs, withDemo(fs))
				env.Pick = true
				_, err := run(t.Context(), env, command, tc.args)
				require.Equal(t, tc.field, requireKind(t, tc.kind, err).Data["field"], command)
			}
		})
	}
}

func TestAPromptIsAccepted(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	env := newEnv(fs, withDemo(fs))
	accepted := 0
	ctx := commands.WithAccepted(t.Context(), func() { accepted++ })
	_, err := run(ctx, env, "xcsh.prompt", nil)
	requireKind(t, fault.ArgumentNeeded, err)
	require.Zero(t, accepted)
	result, err := run(ctx, env, "xcsh.prompt", args{"text": "hello", "streamingBehavior": "steer"})
	require.NoError(t, err)
	require.Equal(t, 1, accepted)
	require.Contains(t, string(result), `"stopReason":"stop"`)
	require.Equal(t, "hello", messages(t, env)[0])
}

func TestLiveSessionOfArguments(t *testing.T) {
	t.Parallel()
	env := newEnv(afero.NewMemMapFs())
	for raw, cwd := range map[string]string{``: "/w", `null`: "/w", `{"text":5,"unknown":true}`: "/w", `{"cwd":"file:///v"}`: "/v"} {
		live, err := commands.LiveSession(t.Context(), env, json.RawMessage(raw))
		require.NoError(t, err, raw)
		require.Equal(t, cwd, live.Cwd())
	}
	for _, raw := range []string{`{"cwd":5}`, `[1]`, `{`, `{"cwd":"w"}`} {
		_, err := commands.LiveSession(t.Context(), env, json.RawMessage(raw))
		require.Error(t, err, raw)
	}
}

func TestChoosingAModel(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	for name, tc := range map[string]struct {
		model string
		kind  fault.Kind
		field any
	}{
		"no provider":         {"demo", fault.InvalidArgument, "model"},
		"no name":             {"offline/", fault.InvalidArgument, "model"},
		"an unknown provider": {"nobody/x", fault.NotFound, "model"},
		"nobody to ask":       {"", fault.ArgumentNeeded, "model"},
	} {
		_, err := run(t.Context(), newEnv(fs, withModels(fs)), "xcsh.setModel", args{"model": tc.model})
		require.Equal(t, tc.field, requireKind(t, tc.kind, err).Data["field"], name)
	}
	_, err := run(t.Context(), newEnv(fs), "xcsh.setModel", args{"model": "offline/demo"})
	requireKind(t, fault.NotFound, err)
	_, err = run(t.Context(), newEnv(fs), "xcsh.setModel", nil)
	require.EqualError(t, err, "No model is ready to use. Set an API key or start a local model server.")
	require.Equal(t, []any{}, do(t, newEnv(fs), "xcsh.models", nil)["models"])

	env := newEnv(fs, withModels(fs))
	env.Pick = true
	_, err = run(t.Context(), env, "xcsh.setModel", nil)
	f := requireKind(t, fault.ArgumentNeeded, err)
	require.Equal(t, []string{"offline/demo"}, f.Data["choices"])
	require.Equal(t, commands.InputModel, f.Data["input"])
	require.Equal(t, map[string]any{"model": map[string]any{"provider": "offline", "id": "demo"}, "thinkingLevel": "off"},
		do(t, env, "xcsh.setModel", args{"model": "offline/demo"}))
}

// A reason belongs to a denial.
func TestAPermissionHasNoReason(t *testing.T) {
	t.Parallel()
	env := newEnv(afero.NewMemMapFs())
	_, err := run(t.Context(), env, "xcsh.approve", args{"id": "a", "decision": "once", "reason": "Good."})
	require.Equal(t, "reason", requireKind(t, fault.InvalidArgument, err).Data["field"])
	_, err = run(t.Context(), env, "xcsh.approve", args{"id": "a", "decision": "deny", "reason": "Bad."})
	requireKind(t, fault.NotFound, err)
}

// Another text belongs to an approval of one call.
func TestOnlyOneCallIsApprovedWithAnotherText(t *testing.T) {
	t.Parallel()
	env := newEnv(afero.NewMemMapFs())
	for _, decision := range []string{"session", "workspace", "deny"} {
		_, err := run(t.Context(), env, "xcsh.approve", args{"id": "a", "decision": decision, "content": "mine", "base": "b"})
		require.Equal(t, "content", requireKind(t, fault.InvalidArgument, err).Data["field"])
	}
	_, err := run(t.Context(), env, "xcsh.approve", args{"id": "a", "decision": "once", "content": "", "base": "b"})
	requireKind(t, fault.NotFound, err)
}

// chooser answers each question with the choice of that title; "" closes the question.
type chooser struct {
	commands.Headless
	answers []string
	asked   [][]string
}

func (p *chooser) Ask(_ context.Context, q commands.Question) (int, error) {
	p.asked = append(p.asked, q.Choices)
	answer := p.answers[0]
	p.answers = p.answers[1:]
	for i, choice := range q.Choices {
		if choice == answer {
			return i, nil
		}
	}
	return -1, nil
}

// A question offers only a few models; the others are behind "More…".
func TestAskingForAModel(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	list := `{"providers":{"near":{"baseUrl":"http://localhost:1/v1","api":"scripted","models":[`
	for i := range 13 {
		if i > 0 {
			list += ","
		}
		list += fmt.Sprintf(`{"id":"m%02d"}`, i)
	}
	require.NoError(t, afero.WriteFile(fs, agentDir+"/models.json", []byte(list+`]}}}`), 0o600))
	for name, tc := range map[string]struct {
		answers []string
		want    string
		asked   []int // the number of choices of each question
	}{
		"on the first page": {[]string{"near/m02"}, "m02", []int{7}},
		"on the last page":  {[]string{"More…", "More…", "offline/demo"}, "demo", []int{7, 7, 2}},
		"closed":            {[]string{"More…", ""}, "", []int{7, 7}},
		"closed at the end": {[]string{"More…", "More…", ""}, "", []int{7, 7, 2}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := newEnv(fs, withModels(fs))
			who := &chooser{answers: tc.answers}
			env.UI = who
			result, err := run(t.Context(), env, "xcsh.setModel", nil)
			var sizes []int
			for _, choices := range who.asked {
				sizes = append(sizes, len(choices))
			}
			require.Equal(t, tc.asked, sizes)
			if tc.want == "" {
				requireKind(t, fault.Cancelled, err)
				require.EqualError(t, err, "No model selected")
				return
			}
			require.NoError(t, err)
			require.Contains(t, string(result), `"id":"`+tc.want+`"`)
		})
	}
}

func TestChoosingAThinkingLevel(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	env := newEnv(fs, withModels(fs))
	_, err := run(t.Context(), env, "xcsh.setThinking", args{"level": "high"})
	requireKind(t, fault.Provider, err)
	_, err = run(t.Context(), env, "xcsh.setThinking", args{"level": "High"})
	f := requireKind(t, fault.InvalidArgument, err)
	require.Equal(t, "level", f.Data["field"])
	require.EqualError(t, err, `"High" is not a thinking level; use one of off, minimal, low, medium, high, xhigh, max.`)
	_, err = run(t.Context(), env, "xcsh.setThinking", nil)
	f = requireKind(t, fault.ArgumentNeeded, err)
	require.Equal(t, provider.Levels, f.Data["choices"])
	require.Equal(t, "level", f.Data["field"])

	do(t, env, "xcsh.setModel", args{"model": "offline/demo"})
	require.Equal(t, "off", do(t, env, "xcsh.setThinking", args{"level": "max"})["thinkingLevel"], "the model does not support thinking")
}

func TestChoosingAnApprovalMode(t *testing.T) {
	t.Parallel()
	env := newEnv(afero.NewMemMapFs())
	_, err := run(t.Context(), env, "xcsh.setApproval", args{"mode": "careful"})
	require.Equal(t, "mode", requireKind(t, fault.InvalidArgument, err).Data["field"])
	_, err = run(t.Context(), env, "xcsh.setApproval", nil)
	require.Equal(t, "mode", requireKind(t, fault.ArgumentNeeded, err).Data["field"])
	require.Equal(t, map[string]any{"mode": "yolo"}, do(t, env, "xcsh.setApproval", args{"mode": "yolo"}))
	_, err = run(t.Context(), env, "xcsh.approve", args{"id": "x", "decision": "once"})
	requireKind(t, fault.NotFound, err)
	_, err = run(t.Context(), env, "xcsh.approve", args{"id": "x"})
	require.Equal(t, "decision", requireKind(t, fault.ArgumentNeeded, err).Data["field"])
	_, err = run(t.Context(), env, "xcsh.approve", args{"id": "x", "decision": "perhaps"})
	require.Equal(t, "decision", requireKind(t, fault.InvalidArgument, err).Data["field"])
}

func TestACommandOfTheUser(t *testing.T) {
	t.Parallel()
	env := newEnv(afero.NewMemMapFs())
	_, err := run(t.Context(), env, "xcsh.bash", nil)
	require.Equal(t, "command", requireKind(t, fault.ArgumentNeeded, err).Data["field"])
	_, err = run(t.Context(), env, "xcsh.bash", args{"command": "ls"})
	requireKind(t, fault.Denied, err)
}

// The statistics of a session that is not live are computed without changing any file.
func TestStatsOfAnotherSession(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	write(t, fs, file1, talk(id1)...)
	before := tree(t, fs)
	raw, err := run(t.Context(), newEnv(fs, withDemo(fs)), "xcsh.stats", args{"source": id1})
	require.NoError(t, err)
	require.Contains(t, string(raw), `"entries":2,"messages":{"assistant":1,"user":1},"toolCalls":{}`)
	require.Contains(t, string(raw), `"contextWindow":128000`)
	require.Equal(t, before, tree(t, fs))
	_, err = run(t.Context(), newEnv(fs), "xcsh.stats", args{"source": "none"})
	requireKind(t, fault.NotFound, err)
}
