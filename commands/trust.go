package commands

import (
	"context"
	"time"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/engine"
	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/agent/serving"
	"github.com/xcsh-ls/xcsh-ls/agent/setup"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

var trustFolder = New(Spec{
	Name: "xcsh.trust", Title: "Trust Folder's Set-up…", Flags: Palette | NeedsTrust, Arg: "decision",
	Doc: "Show what set-up a folder brings, with the commands of its MCP servers, and whether it is used. With a decision, record it. " +
		"If the programs that the set-up starts change, the decision no longer counts.",
}, runTrust)

// TrustArgs are the arguments of xcsh.trust.
type TrustArgs struct {
	Folder
	Decision string `json:"decision,omitempty" jsonschema:"all, without-servers or none. Default: change nothing."`
}

// TrustResult lists the parts of a folder's own set-up, and the user's decision about it.
type TrustResult struct {
	setup.Trust
	Folder  string          `json:"folder"`
	Program string          `json:"program" jsonschema:"The program whose rules apply: xcsh, pi or omp."`
	Brings  []setup.Brought `json:"brings" jsonschema:"What needs trust."`
}

// TrustDecision returns the state that a decision of [TrustArgs] or of a command line leads to.
func TrustDecision(name string) (setup.TrustState, error) {
	state, known := map[string]setup.TrustState{"all": setup.Trusted, "without-servers": setup.WithoutServers, "none": setup.Untrusted}[name]
	if !known {
		return "", fault.New(fault.InvalidArgument, "%q is not a decision. Use all, without-servers or none.", name).With("field", "decision")
	}
	return state, nil
}

func runTrust(ctx context.Context, env *Env, a TrustArgs) (TrustResult, error) {
	cwd, err := env.cwd(ctx, a.Folder)
	if err != nil {
		return TrustResult{}, err
	}
	found, err := env.foundIn(ctx, cwd)
	if err != nil {
		return TrustResult{}, err
	}
	if a.Decision != "" {
		state, err := TrustDecision(a.Decision)
		if err != nil {
			return TrustResult{}, err
		}
		if err := env.Sessions.TrustSetup(found, state); err != nil {
			return TrustResult{}, err
		}
		if found, err = env.foundIn(ctx, cwd); err != nil {
			return TrustResult{}, err
		}
	}
	return TrustResult{Trust: found.Trust, Folder: found.Folder, Program: found.Program, Brings: found.Brings()}, nil
}

// foundIn returns the set-up of a folder: that of its live session, or else that of new sessions.
func (env *Env) foundIn(ctx context.Context, cwd string) (*setup.Resolved, error) {
	q := setup.Query{Cwd: cwd, Restricted: env.restricted()}
	live := env.Sessions.Live(cwd)
	if live != nil {
		q.Program = live.Dialect()
	}
	found, err := env.Sessions.Setup(ctx, q)
	if live != nil && err == nil {
		live.Invocable(found)
	}
	return found, err
}

// The answers to the question about a folder's set-up, in this order.
var trustAnswers = []struct {
	title string
	state setup.TrustState // "": until the process ends, nothing is used
}{
	{"Use", setup.Trusted},
	{"Use without servers", setup.WithoutServers},
	{"Not now", ""},
}

// trustWait is how long a prompt waits for the answer to the question about a folder's set-up. A later answer counts
// from the next prompt on.
const trustWait = 30 * time.Second

// askTrust asks the user about the set-up of the session's folder, unless the user has been asked or has decided. It
// returns when the user has answered, or after [trustWait]. The error is that of ctx.
func (env *Env) askTrust(ctx context.Context, live *agent.Session) error {
	if live.Engine().Name != engine.Own || env.restricted() || live.CheckIdle("") != nil {
		return nil
	}
	found := live.Found(ctx)
	live.Invocable(found)
	if !found.Trust.Undecided() || live.Ready(ctx) != nil || !env.Sessions.AskTrust(found) {
		return ctx.Err()
	}
	answered := make(chan struct{})
	late := make(chan struct{})
	go func() {
		defer close(answered)
		// Not ctx: the question outlives the prompt.
		env.answerTrust(context.WithoutCancel(ctx), live, found, late)
	}()
	after := env.After
	if after == nil {
		after = func(d time.Duration, f func()) func() bool { return time.AfterFunc(d, f).Stop }
	}
	stop := after(trustWait, func() { close(late) })
	defer stop()
	select {
	case <-answered:
	case <-late:
		live.Report(event.Notice{Text: "The set-up of this folder is not used for this prompt, because you have not answered the question about it yet. " + howToTrust(found)})
	case <-ctx.Done():
	}
	return ctx.Err()
}

// answerTrust asks the question and records the answer. late is closed when the prompt no longer waits.
func (env *Env) answerTrust(ctx context.Context, live *agent.Session, found *setup.Resolved, late <-chan struct{}) {
	ask := env.UI.Ask
	if env.AskTrust != nil {
		ask = env.AskTrust
	}
	q := Question{Text: found.Trust.Question}
	for _, a := range trustAnswers {
		q.Choices = append(q.Choices, a.title)
	}
	i, err := ask(ctx, q)
	switch {
	case err != nil, i == Unasked:
		live.Report(event.Notice{Text: found.Trust.Question + " It is not used, because you could not be asked. " + howToTrust(found)})
		return
	case i < 0, trustAnswers[i].state == "":
		if len(serving.LeftOut(found, "")) > 0 {
			return // the notices about its servers say so
		}
		live.Report(event.Notice{Text: "The set-up of this folder is not used. " + howToTrust(found)})
		return
	}
	if err := env.Sessions.TrustSetup(found, trustAnswers[i].state); err != nil {
		live.Report(event.Notice{Text: "The decision about this folder's set-up was not recorded: " + err.Error(), Level: event.Failure})
		return
	}
	live.Invocable(live.Found(ctx))
	select {
	case <-late:
		live.Report(event.Notice{Text: "The set-up of this folder is used from the next prompt on."})
	default:
	}
}

// howToTrust says how the user decides later.
func howToTrust(found *setup.Resolved) string {
	return "To use it, run xcsh.trust or, in a terminal, xcsh-ls setup --program " + found.Program + " --trust all."
}
