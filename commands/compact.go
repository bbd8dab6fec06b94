package commands

import (
	"context"

	"github.com/xcsh-ls/xcsh-ls/agent"
)

var compact = New(Spec{
	Name: "xcsh.compact", Title: "Compact Conversation", Flags: Palette | NeedsIdle | NeedsTrust, Arg: "instructions",
	Doc:     "Ask the model to summarize the older part of the conversation to free room in its context window. The file keeps everything.",
	refusal: refusal{doing: "compacting"},
}, runCompact)

// CompactArgs are the arguments of xcsh.compact.
type CompactArgs struct {
	Folder
	Instructions string `json:"instructions,omitempty" jsonschema:"What the summary should focus on."`
}

func runCompact(ctx context.Context, env *Env, a CompactArgs) (agent.Compaction, error) {
	live, err := env.live(ctx, a.Folder)
	if err != nil {
		return agent.Compaction{}, err
	}
	if err := compacting.of(live.Engine()); err != nil {
		return agent.Compaction{}, err
	}
	progress := env.UI.Progress(ctx, "Compacting the conversation")
	defer progress.End("")
	return live.Compact(ctx, a.Instructions)
}
