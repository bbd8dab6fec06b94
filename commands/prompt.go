package commands

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/session/fault"
)

var prompt = New(Spec{
	Name: "xcsh.prompt", Title: "Ask…", Flags: Palette, Input: InputText, Arg: "text",
	Doc: "Say something to the model of the folder's session. The answer comes as events; the result when the turn is over.",
}, runPrompt)

var steer = New(Spec{
	Name: "xcsh.steer", Title: "Steer…", Flags: Palette, Input: InputText, Arg: "text",
	Doc: "Say something to the turn that runs: the model is told after the tool calls that are running.",
}, func(ctx context.Context, env *Env, a SayArgs) (QueuedResult, error) {
	return runQueue(ctx, env, a, "steer")
})

var followUp = New(Spec{
	Name: "xcsh.followUp", Title: "Follow Up…", Flags: Palette, Input: InputText, Arg: "text",
	Doc: "Say something once the turn that runs would be over.",
}, func(ctx context.Context, env *Env, a SayArgs) (QueuedResult, error) {
	return runQueue(ctx, env, a, "followUp")
})

var abort = New(Spec{
	Name: "xcsh.abort", Title: "Stop", Flags: Palette,
	Doc: "Stop the turn or the compaction that runs, and answer when it is over.",
}, runAbort)

// Image is a picture that goes with a prompt.
type Image struct {
	Data     string `json:"data" jsonschema:"The bytes, base64."`
	MimeType string `json:"mimeType" jsonschema:"image/png, image/jpeg, image/gif or image/webp."`
}

// SayArgs are the arguments of commands that say something.
type SayArgs struct {
	Folder
	Text   string  `json:"text" jsonschema:"What to say."`
	Images []Image `json:"images,omitempty"`
}

// PromptArgs are the arguments of xcsh.prompt.
type PromptArgs struct {
	SayArgs
	Attachments       []Attachment `json:"attachments,omitempty" jsonschema:"Files, or parts of files, to show the model with the text."`
	StreamingBehavior string       `json:"streamingBehavior,omitempty" jsonschema:"What to do while a turn runs: steer or followUp. Absent: refuse."`
}

// PromptResult is what became of a prompt.
type PromptResult struct {
	StopReason string          `json:"stopReason,omitempty" jsonschema:"Why the last answer ended: stop, length, aborted …"`
	Usage      provider.Usage  `json:"usage" jsonschema:"Sum over the answers of the turn."`
	Message    json.RawMessage `json:"message,omitempty" jsonschema:"The last answer, as stored."`
	Queued     bool            `json:"queued,omitempty" jsonschema:"The text waits for the turn that runs; the rest is empty."`
}

// QueuedResult says how many messages wait.
type QueuedResult struct {
	Queued int `json:"queued"`
}

// AbortResult says whether anything was stopped.
type AbortResult struct {
	Aborted    bool     `json:"aborted"`
	Unanswered []string `json:"unanswered" jsonschema:"Queued messages that are given back."`
}

func runPrompt(ctx context.Context, env *Env, a PromptArgs) (PromptResult, error) {
	live, err := env.live(ctx, a.Folder)
	if err != nil {
		return PromptResult{}, err
	}
	if a.empty() && len(a.Attachments) == 0 && attachedOf(ctx) == "" {
		if a.Text, err = env.askPrompt(ctx, live, a.StreamingBehavior); err != nil {
			return PromptResult{}, err
		}
	}
	in, err := a.input()
	if err != nil {
		return PromptResult{}, err
	}
	attached, err := env.attach(ctx, live.Cwd(), a.Attachments)
	if err != nil {
		return PromptResult{}, err
	}
	in.Attached, in.Queue, in.Accepted = attachedOf(ctx)+attached, a.StreamingBehavior, acceptedOf(ctx)
	progress := env.UI.Progress(ctx, "xcsh")
	defer progress.End("")
	turn, err := live.Prompt(ctx, in)
	if err != nil {
		return PromptResult{}, err
	}
	return PromptResult{StopReason: turn.StopReason, Usage: turn.Usage, Message: turn.Message, Queued: turn.Queued}, nil
}

func runQueue(ctx context.Context, env *Env, a SayArgs, when string) (QueuedResult, error) {
	live, err := env.live(ctx, a.Folder)
	if err != nil {
		return QueuedResult{}, err
	}
	if a.empty() {
		if a.Text, err = env.askMore(ctx, live); err != nil {
			return QueuedResult{}, err
		}
	}
	in, err := a.input()
	if err != nil {
		return QueuedResult{}, err
	}
	in.Queue = when
	n, err := live.Enqueue(in)
	return QueuedResult{Queued: n}, err
}

func runAbort(ctx context.Context, env *Env, a Folder) (AbortResult, error) {
	live, err := env.live(ctx, a)
	if err != nil {
		return AbortResult{}, err
	}
	aborted, unanswered, err := live.Abort(ctx)
	if unanswered == nil {
		unanswered = []string{}
	}
	return AbortResult{Aborted: aborted, Unanswered: unanswered}, err
}

var textNeeded = need{question: "What do you want to say?", nothing: "Nothing said", input: InputText, field: "text"}

// askPrompt asks the person what to say, but not for a text that would only be refused.
func (env *Env) askPrompt(ctx context.Context, live *agent.Session, whenBusy string) (string, error) {
	if !env.Pick {
		state, err := live.State()
		switch {
		case err != nil:
			return "", err
		case state.IsStreaming && whenBusy == "":
			return "", fault.New(fault.Busy, "A turn runs in %s; steer it or follow up instead.", live.Cwd())
		}
		if err := live.Ready(ctx); err != nil { // before the person writes for nothing
			return "", err
		}
	}
	return env.askText(ctx, textNeeded, "", "")
}

// askMore asks the person what to say to the turn that runs.
func (env *Env) askMore(ctx context.Context, live *agent.Session) (string, error) {
	if !env.Pick {
		state, err := live.State()
		if err != nil {
			return "", err
		}
		if !state.IsStreaming {
			return "", fault.New(fault.Stale, "Nothing runs in %s; send a prompt instead.", live.Cwd())
		}
	}
	return env.askText(ctx, textNeeded, "", "")
}

type acceptedKey struct{}

// WithAccepted lets f be called when a prompt that is run with the context was accepted:
// its turn began, or it waits for the one that runs. It may be called more than once.
func WithAccepted(ctx context.Context, f func()) context.Context {
	return context.WithValue(ctx, acceptedKey{}, f)
}

func acceptedOf(ctx context.Context) func() {
	f, _ := ctx.Value(acceptedKey{}).(func())
	return f
}

type attachedKey struct{}

// WithAttached shows the model a text before the one of a prompt that is run with the context.
// It is not remembered with what the person said.
func WithAttached(ctx context.Context, text string) context.Context {
	return context.WithValue(ctx, attachedKey{}, text)
}

func attachedOf(ctx context.Context) string {
	text, _ := ctx.Value(attachedKey{}).(string)
	return text
}

// LiveSession returns the live session of the folder that the arguments of a command are
// about, whatever else is wrong with them.
func LiveSession(ctx context.Context, env *Env, args json.RawMessage) (*agent.Session, error) {
	var f Folder
	if err := json.Unmarshal(args, &f); err != nil && len(args) > 0 {
		return nil, err
	}
	return env.live(ctx, f)
}

// empty reports that nothing is said.
func (a SayArgs) empty() bool { return strings.TrimSpace(a.Text) == "" && len(a.Images) == 0 }

// imageTypes are the kinds of images that services take.
var imageTypes = []string{"image/png", "image/jpeg", "image/gif", "image/webp"}

// input is what is said, as a session takes it. Images are looked at first: one that a
// service refuses would be in the conversation for good, and refused with each request.
func (a SayArgs) input() (agent.Input, error) {
	in := agent.Input{Text: a.Text}
	for i, image := range a.Images {
		field := fmt.Sprintf("images.%d", i)
		if !slices.Contains(imageTypes, image.MimeType) {
			return in, fault.New(fault.InvalidArgument, "Image %d needs a mimeType that is one of %s.", i+1, strings.Join(imageTypes, ", ")).
				With("field", field)
		}
		if _, err := base64.StdEncoding.DecodeString(image.Data); err != nil || image.Data == "" {
			return in, fault.New(fault.InvalidArgument, "The data of image %d is not base64.", i+1).With("field", field)
		}
		in.Images = append(in.Images, provider.Block{Type: provider.TypeImage, Data: image.Data, MimeType: image.MimeType})
	}
	return in, nil
}
