package tool

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
)

// proposal is the address to which a model of oh-my-pi writes the name of its plan, to propose it.
const proposal = "xd://propose"

// EndsPlan reports whether a call with checked arguments is one of [ExitPlanMode].
func EndsPlan(name string, args json.RawMessage) bool {
	// The arguments of write have no title; see [WithProposals].
	return name == ExitPlanMode || name == "write" && rawjson.Get(args, "title") != nil
}

// WithProposals returns the tool write for a session of oh-my-pi in plan mode: a call that writes to
// [proposal] is one of exit, with its checked arguments.
func WithProposals(write, exit Tool) Tool {
	of := func(args json.RawMessage) Tool {
		if EndsPlan("write", args) {
			return exit
		}
		return write
	}
	t := write
	t.Check = func(args json.RawMessage) (json.RawMessage, error) {
		if path, _ := rawjson.GetString(args, "path"); strings.TrimSpace(path) == proposal {
			return exit.Check(new(rawjson.Object).String("title", proposed(args)).Bytes())
		}
		return write.Check(args)
	}
	t.Preview = func(ctx context.Context, env Env, args json.RawMessage) (Preview, error) {
		return of(args).Preview(ctx, env, args)
	}
	t.Limit = func(args json.RawMessage) time.Duration { return of(args).limitOf(args) }
	t.Run = func(ctx context.Context, env Env, args json.RawMessage) (Result, error) {
		return of(args).Run(ctx, env, args)
	}
	return t
}

// proposed returns the name of the plan: the content, or its member title.
func proposed(args json.RawMessage) string {
	content, _ := rawjson.GetString(args, "content")
	if title, ok := rawjson.GetString([]byte(content), "title"); ok && json.Valid([]byte(content)) {
		return title
	}
	return content
}
