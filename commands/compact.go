package commands

import (
	"context"

	"github.com/xcsh-ls/xcsh-ls/agent"
)

var compact = New(Spec{
	Name: "xcsh.compact", Title: "Compact Conversation", Flags: Palette | NeedIdle, Arg: "instructions",
	Doc: "Let the model summarise the older part of the conversation, so that there is room again. The file keeps everything.",
}, runCompact)

// CompactArgs are the arguments of xcsh.compact.
type CompactArgs struct {
	Folder
	Instructions string `json:"instructions,omitempty" jsonschema:"What the summary should look at in particular."`
}

func runCompact(ctx context.Context, env *Env, a CompactArgs) (agent.Compaction, error) {
	live, err := env.live(ctx, a.Folder)
	if err != nil {
		return agent.Compaction{}, err
	}
	progress := env.UI.Progress(ctx, "Compacting the conversation")
	defer progress.End("")
	return live.Compact(ctx, a.Instructions)
}
