package commands

import (
	"context"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/commands/composer"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session/attached"
)

var editQueued = New(Spec{
	Name: "xcsh.editQueued", Title: "Edit Queued Message", Flags: NeedsTrust,
	Doc: "Change the words of a queued message, or remove the message. xcsh.snapshot and the event queue_changed list the queued messages.",
}, runEditQueued)

// EditQueuedArgs are the arguments of xcsh.editQueued.
type EditQueuedArgs struct {
	Folder
	Queue string `json:"queue" jsonschema:"steer or followUp."`
	Index int    `json:"index" jsonschema:"The place of the message in that queue, from 0."`
	Text  string `json:"text" jsonschema:"The text of the message, as the queue lists it. If it was sent meanwhile, the command fails with stale."`
	Words string `json:"words,omitempty" jsonschema:"The new words. Attached files and images are kept, and what the new words name with @ is added. Default: remove the message."`
}

func runEditQueued(ctx context.Context, env *Env, a EditQueuedArgs) (QueuedResult, error) {
	live, err := env.live(ctx, a.Folder)
	if err != nil {
		return QueuedResult{}, err
	}
	state, err := live.State()
	if err != nil {
		return QueuedResult{}, err
	}
	if state.Queued == (agent.Queued{}) {
		return QueuedResult{}, fault.New(fault.Stale, "No messages are queued in %s.", live.Cwd())
	}
	// What the old words named is sent with the message already.
	added, err := Refer(ctx, env, live.Cwd(), composer.Added(attached.Words(a.Text), a.Words), nil)
	if err != nil {
		return QueuedResult{}, err
	}
	for _, note := range added.Notes {
		live.Report(event.Notice{Text: note})
	}
	in := agent.Input{Text: a.Words}
	made, err := Expand(ctx, live, &in)
	if err != nil {
		return QueuedResult{}, err
	}
	in.Attached, in.Images = added.Text, added.Images
	n, err := live.EditQueued(agent.QueuedMessage{Queue: a.Queue, Index: a.Index, Text: a.Text}, in)
	return QueuedResult{Queued: n, Expanded: made}, err
}
