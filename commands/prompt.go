package commands

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/convert"
	"github.com/xcsh-ls/xcsh-ls/agent/engine"
	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

var prompt = New(Spec{
	Name: "xcsh.prompt", Title: "Ask…", Flags: Palette | NeedsTrust, Input: InputText, Arg: "text",
	Doc: "Send a prompt to the model of the folder's session. The answer arrives as events; the result, when the turn ends.",
}, runPrompt)

var steer = New(Spec{
	Name: "xcsh.steer", Title: "Steer…", Flags: Palette | NeedsTrust, Input: InputText, Arg: "text",
	Doc: "Send a message to the running turn. The model gets it after the running tool calls.",
}, func(ctx context.Context, env *Env, a MessageArgs) (QueuedResult, error) {
	return runQueue(ctx, env, a, "steer")
})

var followUp = New(Spec{
	Name: "xcsh.followUp", Title: "Follow Up…", Flags: Palette | NeedsTrust, Input: InputText, Arg: "text",
	Doc: "Queue a message that is sent when the current turn ends.",
}, func(ctx context.Context, env *Env, a MessageArgs) (QueuedResult, error) {
	return runQueue(ctx, env, a, "followUp")
})

var abort = New(Spec{
	Name: "xcsh.abort", Title: "Stop", Flags: Palette | NeedsTrust, Early: true,
	Doc: "Stop the running turn or compaction, and return when it has ended.",
}, runAbort)

// Image is an image that is sent with a prompt.
type Image struct {
	Data     string `json:"data" jsonschema:"The bytes in base64."`
	MimeType string `json:"mimeType" jsonschema:"image/png, image/jpeg, image/gif or image/webp."`
}

// MessageArgs are the arguments of commands that send a message.
type MessageArgs struct {
	Folder
	Text   string  `json:"text" jsonschema:"The message."`
	Images []Image `json:"images,omitempty"`

	Literal bool `json:"literal,omitempty" jsonschema:"Do not look for references such as @src/main.go, for slash commands, skills and templates in text. For texts that the user has not typed."`
}

// PromptArgs are the arguments of xcsh.prompt.
type PromptArgs struct {
	MessageArgs
	Attachments       []Attachment `json:"attachments,omitempty" jsonschema:"Files, or parts of text files, to send with the text. Images are sent as images."`
	StreamingBehavior string       `json:"streamingBehavior,omitempty" jsonschema:"What to do if a turn is running: steer or followUp. Default: fail with busy."`
	Instruction       string       `json:"instruction,omitempty" jsonschema:"How the model should carry out the request, at most 8 KiB. The model gets it before the text. It is not a part of the user's words: clients do not show it, and the prompt history does not have it."`
}

// PromptResult is the result of a turn, or of queueing the prompt.
type PromptResult struct {
	StopReason string          `json:"stopReason,omitempty" jsonschema:"Why the last answer ended: stop, length, aborted and others."`
	Usage      provider.Usage  `json:"usage" jsonschema:"The sum over all answers of the turn."`
	Message    json.RawMessage `json:"message,omitempty" jsonschema:"The last answer, as stored in the session."`
	Queued     bool            `json:"queued,omitempty" jsonschema:"The message was queued for the running turn; the other fields are empty."`
	Expanded   *Expanded       `json:"expanded,omitempty" jsonschema:"The skill or template that the prompt was made of."`
	Command    string          `json:"command,omitempty" jsonschema:"The slash command of xcsh-ls that the prompt was, without the slash. Nothing was recorded."`
	Answer     string          `json:"answer,omitempty" jsonschema:"The answer of the slash command as Markdown, for the user."`
}

// QueuedResult is the number of queued messages.
type QueuedResult struct {
	Queued   int       `json:"queued"`
	Expanded *Expanded `json:"expanded,omitempty" jsonschema:"The skill or template that the message was made of."`
}

// AbortResult reports whether anything was stopped.
type AbortResult struct {
	Aborted    bool     `json:"aborted"`
	Unanswered []string `json:"unanswered" jsonschema:"The queued messages, which were not sent."`
}

func runPrompt(ctx context.Context, env *Env, a PromptArgs) (PromptResult, error) {
	live, err := env.live(ctx, a.Folder)
	if err != nil {
		return PromptResult{}, err
	}
	if err := a.accepted(live.Engine(), a.StreamingBehavior); err != nil {
		return PromptResult{}, err
	}
	offer, err := env.firstUse(ctx, live)
	if err != nil {
		return PromptResult{}, err
	}
	if a.empty() && len(a.Attachments) == 0 && attachedOf(ctx) == "" {
		if a.Text, err = env.ask().prompt(ctx, live, a.StreamingBehavior); err != nil {
			return PromptResult{}, withActions(err, live.Engine(), offer)
		}
	}
	if s, args, ok := a.slash(ctx, live); ok {
		return runSlash(ctx, env, live, s, args)
	}
	if err := env.askTrust(ctx, live); err != nil {
		return PromptResult{}, err
	}
	in, made, err := a.compose(ctx, env, live)
	if err != nil {
		return PromptResult{}, err
	}
	in.Queue, in.Accepted = a.StreamingBehavior, acceptedOf(ctx)
	progress := env.UI.Progress(ctx, "xcsh")
	defer progress.End("")
	defer env.Sessions.Subscribe(func(e agent.Event) {
		if run, ok := e.(agent.RunEvent); ok && run.Cwd == live.Cwd() {
			reportRetry(progress, run.Event)
		}
	})()
	turn, err := live.Prompt(ctx, in)
	if needsFork(err) { // nothing was sent
		if _, err = env.setEngine(ctx, live, SetEngineArgs{Engine: live.Engine().Name}); err == nil {
			turn, err = live.Prompt(ctx, in)
		}
	}
	if err != nil {
		return PromptResult{}, withActions(withRejectedKey(err, live), live.Engine(), offer)
	}
	return PromptResult{StopReason: turn.StopReason, Usage: turn.Usage, Message: turn.Message, Queued: turn.Queued, Expanded: made}, nil
}

// slash returns the slash command that the prompt is.
func (a PromptArgs) slash(ctx context.Context, live *agent.Session) (s Slash, args string, ok bool) {
	if _, blocks := ctx.Value(attachedKey{}).(string); blocks || a.Literal || a.Instruction != "" || len(a.Images) > 0 || len(a.Attachments) > 0 {
		return Slash{}, "", false
	}
	return SlashIn(ctx, live, a.Text)
}

func runSlash(ctx context.Context, env *Env, live *agent.Session, s Slash, args string) (PromptResult, error) {
	if f := acceptedOf(ctx); f != nil {
		f()
	}
	answer, err := s.Run(ctx, env, live.Cwd(), args)
	return PromptResult{Command: s.Name, Answer: answer}, err
}

// compose returns the input of a prompt: its text, expanded, and the files and things in the editor that
// it comes with or names.
func (a PromptArgs) compose(ctx context.Context, env *Env, live *agent.Session) (in agent.Input, made *Expanded, err error) {
	if in, err = a.input(); err != nil {
		return in, nil, err
	}
	if !a.Literal && a.Instruction == "" {
		if made, err = Expand(ctx, live, &in); err != nil {
			return in, nil, err
		}
	}
	instruction, err := a.instruction()
	if err != nil {
		return in, nil, err
	}
	files, err := newAttacher(env).all(ctx, live.Cwd(), a.Attachments)
	if err != nil {
		return in, nil, err
	}
	var named Referred
	if !a.Literal && !forEngine(live, a.Text) { // in the user's words, not in the text of a template
		if named, err = Refer(ctx, env, live.Cwd(), a.Text, a.Attachments); err != nil {
			return in, nil, err
		}
	}
	for _, note := range named.Notes {
		live.Report(event.Notice{Text: note})
	}
	in.Attached = instruction + attachedOf(ctx) + files.text + named.Text
	in.Images = slices.Concat(files.images, named.Images, in.Images)
	return in, made, nil
}

// forEngine reports whether a text may be a command of a program that answers: it must remain at the beginning.
func forEngine(live *agent.Session, text string) bool {
	return live.Engine().Name != engine.Own && strings.HasPrefix(strings.TrimSpace(text), "/")
}

// reportRetry shows that a request of the turn is repeated, until it succeeds.
func reportRetry(progress Progress, e event.Event) {
	switch e := e.(type) {
	case event.RetryStart:
		progress.Report(e.Text(), -1)
	case event.RetryEnd:
		progress.Report("", -1)
	}
}

func runQueue(ctx context.Context, env *Env, a MessageArgs, when string) (QueuedResult, error) {
	live, err := env.live(ctx, a.Folder)
	if err != nil {
		return QueuedResult{}, err
	}
	if err := a.accepted(live.Engine(), when); err != nil {
		return QueuedResult{}, err
	}
	if a.empty() {
		if a.Text, err = env.ask().message(ctx, live); err != nil {
			return QueuedResult{}, err
		}
	}
	in, made, err := PromptArgs{MessageArgs: a}.compose(ctx, env, live)
	if err != nil {
		return QueuedResult{}, err
	}
	in.Queue = when
	n, err := live.Enqueue(in)
	return QueuedResult{Queued: n, Expanded: made}, err
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

var textNeeded = need{question: "Message", nothing: "No message entered", input: InputText, field: "text"}

// prompt asks for a prompt, unless the session could not accept it.
func (p prompter) prompt(ctx context.Context, live *agent.Session, whenBusy string) (string, error) {
	if !p.clientPicks {
		state, err := live.State()
		switch {
		case err != nil:
			return "", err
		case state.IsStreaming && whenBusy == "":
			return "", fault.New(fault.Busy, "A turn is running in %s. Steer it, or queue a follow-up.", live.Cwd())
		}
		if err := live.Ready(ctx); err != nil { // before the user writes in vain
			return "", err
		}
	}
	n := textNeeded
	n.names = func(ctx context.Context) ([]engine.Command, error) { return namesIn(ctx, live) }
	return p.text(ctx, n, "", "")
}

// message asks for a message to the running turn.
func (p prompter) message(ctx context.Context, live *agent.Session) (string, error) {
	if !p.clientPicks {
		state, err := live.State()
		if err != nil {
			return "", err
		}
		if !state.IsStreaming {
			return "", fault.New(fault.Stale, "No turn is running in %s. Send a prompt instead.", live.Cwd())
		}
	}
	return p.text(ctx, textNeeded, "", "")
}

type acceptedKey struct{}

// WithAccepted returns a context in which f is called when a prompt has been accepted: its
// turn has begun, or it is queued. f may be called more than once.
func WithAccepted(ctx context.Context, f func()) context.Context {
	return context.WithValue(ctx, acceptedKey{}, f)
}

func acceptedOf(ctx context.Context) func() {
	f, _ := ctx.Value(acceptedKey{}).(func())
	return f
}

type attachedKey struct{}

// WithAttached returns a context in which text, which may be empty, is sent to the model before a prompt. It is not
// added to the prompt history. Such a prompt is no slash command.
func WithAttached(ctx context.Context, text string) context.Context {
	return context.WithValue(ctx, attachedKey{}, text)
}

func attachedOf(ctx context.Context) string {
	text, _ := ctx.Value(attachedKey{}).(string)
	return text
}

// LiveSession returns the live session of the folder in the arguments of a command, even if
// other arguments are invalid.
func LiveSession(ctx context.Context, env *Env, args json.RawMessage) (*agent.Session, error) {
	var f Folder
	if err := json.Unmarshal(args, &f); err != nil && len(args) > 0 {
		return nil, err
	}
	return env.live(ctx, f)
}

// accepted returns a Denied error if the engine is known not to take such a message.
func (a MessageArgs) accepted(current engine.Status, when string) error {
	if len(a.Images) > 0 {
		if err := images.of(current); err != nil {
			return err
		}
	}
	if when == "steer" {
		return steering.of(current)
	}
	return nil
}

// empty reports whether there is no text and no image.
func (a MessageArgs) empty() bool { return strings.TrimSpace(a.Text) == "" && len(a.Images) == 0 }

// maxInstruction is the longest instruction of a prompt, in bytes.
const maxInstruction = 8 << 10

// instruction returns the instruction of a prompt in the form for a model, to put before everything else.
func (a PromptArgs) instruction() (string, error) {
	text := strings.TrimSpace(a.Instruction)
	switch {
	case text == "":
		return "", nil
	case len(a.Instruction) > maxInstruction:
		return "", fault.New(fault.InvalidArgument, "The instruction has %d bytes, which is more than %d.", len(a.Instruction), maxInstruction).With("field", "instruction")
	}
	return convert.Instruction(text) + "\n\n", nil
}

// imageTypes are the image types that services accept.
var imageTypes = []string{"image/png", "image/jpeg", "image/gif", "image/webp"}

// input returns the message for a session. It checks the images first, because one that a
// service rejects would stay in the conversation and fail every later request.
func (a MessageArgs) input() (agent.Input, error) {
	in := agent.Input{Text: a.Text}
	for i, image := range a.Images {
		field := fmt.Sprintf("images.%d", i)
		if !slices.Contains(imageTypes, image.MimeType) {
			return in, fault.New(fault.InvalidArgument, "Image %d needs one of these MIME types: %s.", i+1, strings.Join(imageTypes, ", ")).
				With("field", field)
		}
		if _, err := base64.StdEncoding.DecodeString(image.Data); err != nil || image.Data == "" {
			return in, fault.New(fault.InvalidArgument, "The data of image %d is not base64.", i+1).With("field", field)
		}
		in.Images = append(in.Images, provider.Block{Type: provider.TypeImage, Data: image.Data, MimeType: image.MimeType})
	}
	return in, nil
}
