package tool

import (
	"context"
	_ "embed" // the tools' descriptions
	"strings"
	"time"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

//go:embed process.md
var processDoc string

// maxWait is the longest wait for the end of a background command, in seconds. It is shorter than the
// time limit of a call.
const maxWait = 90

type processArgs struct {
	ID   string  `json:"id,omitzero" jsonschema:"The id; without it all are listed."`
	Stop bool    `json:"stop,omitzero"`
	Wait float64 `json:"wait,omitzero" jsonschema:"Seconds to wait for its end before reading (at most 90)."`
}

// newProcess is not a tool that changes something: stopping a command that was approved needs no
// approval, and works in every mode.
func newProcess() Tool {
	return define(definition[processArgs]{
		name: "process", doc: processDoc,
		check: func(a processArgs) error {
			switch {
			case a.Stop && a.ID == "":
				return badArgument("id", "process needs the id of the command to stop.")
			case a.Wait < 0 || a.Wait > maxWait:
				return badArgument("wait", "process: wait must be a number of seconds from 0 to %d.", maxWait)
			}
			return nil
		},
		run: runProcess,
	})
}

func runProcess(ctx context.Context, env Env, a processArgs) (Result, error) {
	if env.Background == nil {
		return Result{}, fault.New(fault.Denied, "Commands cannot run in the background here.")
	}
	if a.ID == "" {
		return listProcesses(env.Background), nil
	}
	if a.Stop {
		if err := env.Background.Stop(ctx, a.ID); err != nil {
			return Result{}, err
		}
	}
	s, err := env.Background.commands.Read(ctx, a.ID, time.Duration(a.Wait*float64(time.Second)))
	if err != nil {
		return Result{}, err
	}
	return TextResult(stateText(s)), nil
}

func listProcesses(b *Background) Result {
	running := b.Running()
	if len(running) == 0 {
		return TextResult("No commands are running in the background.")
	}
	lines := make([]string, len(running))
	for i, c := range running {
		line, _ := cutLine(c.Command)
		lines[i] = c.ID + ": " + line
	}
	return TextResult(strings.Join(lines, "\n"))
}
