package commands

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// slashTable has the commands that slash commands run. It is not [Default], which has xcsh.prompt and so the slash
// commands themselves.
var slashTable = NewTable(compact, export, dump, share, fork, rename, chooseBranch, setMode, changes, rewindFiles, stats)

// do runs a command for a slash command.
func do[R any](ctx context.Context, env *Env, name string, args any) (R, error) {
	return Call[R](ctx, slashTable, env, name, args)
}

func folderOf(cwd string) Folder { return Folder{Cwd: cwd} }

func subjectIn(cwd string) Subject { return Subject{Folder: folderOf(cwd)} }

func slashCompact(ctx context.Context, env *Env, cwd, args string) (string, error) {
	r, err := do[agent.Compaction](ctx, env, "xcsh.compact", CompactArgs{Folder: folderOf(cwd), Instructions: args})
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("Compacted %d tokens. The summary:\n\n%s", r.TokensBefore, r.Summary), nil
}

func slashExport(ctx context.Context, env *Env, cwd, args string) (string, error) {
	r, err := do[ExportResult](ctx, env, "xcsh.export", ExportArgs{Subject: subjectIn(cwd), Path: args})
	if err != nil {
		return "", err
	}
	return strings.TrimSpace("Exported to: " + r.Path + "\n\n" + RedactedText(r.Redacted)), nil
}

func slashDump(ctx context.Context, env *Env, cwd, _ string) (string, error) {
	r, err := do[DumpResult](ctx, env, "xcsh.dump", DumpArgs{Subject: subjectIn(cwd)})
	return r.Text, err
}

func slashShare(ctx context.Context, env *Env, cwd, args string) (string, error) {
	r, err := do[ShareResult](ctx, env, "xcsh.share", ShareArgs{Subject: subjectIn(cwd), Doubtful: strings.TrimSpace(args)})
	if err != nil {
		return "", err
	}
	lines := slices.DeleteFunc([]string{r.PreviewURL, r.URL, r.Message}, func(line string) bool { return line == "" })
	if len(lines) == 0 {
		return "Shared.", nil
	}
	return strings.Join(lines, "\n\n"), nil
}

func slashFork(ctx context.Context, env *Env, cwd, _ string) (string, error) {
	r, err := do[ForkResult](ctx, env, "xcsh.fork", ForkArgs{Subject: subjectIn(cwd)})
	switch {
	case err != nil:
		return "", err
	case !r.Forked:
		return "The conversation was not forked: cancelled by " + r.CancelledBy + ".", nil
	}
	return "Forked. This is the copy; the original is unchanged.", nil
}

func slashRename(ctx context.Context, env *Env, cwd, args string) (string, error) {
	r, err := do[RenameResult](ctx, env, "xcsh.rename", RenameArgs{Subject: subjectIn(cwd), Title: args})
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("Renamed to %q.", r.Title), nil
}

// slashBranch decides about another program's branch. A fork is a session of its own; see slashFork.
func slashBranch(ctx context.Context, env *Env, cwd, args string) (string, error) {
	choice := agent.BranchChoice(args)
	if choice != agent.FollowBranch && choice != agent.StayOnBranch {
		return "", fault.New(fault.InvalidArgument, "Use /branch follow or /branch stay.")
	}
	r, err := do[ChooseBranchResult](ctx, env, ChooseBranchName, ChooseBranchArgs{Folder: folderOf(cwd), Choice: choice})
	switch {
	case err != nil:
		return "", err
	case r.CancelledBy != "":
		return "The branch was not changed: cancelled by " + r.CancelledBy + ".", nil
	case choice == agent.FollowBranch:
		return "The next prompt continues the other program's branch. Load the session again to see it.", nil
	}
	return "The next prompt continues this branch.", nil
}

// slashPlan turns plan mode on or off or pauses it; without an argument it shows the state.
func slashPlan(ctx context.Context, env *Env, cwd, args string) (string, error) {
	modes := map[string]string{"on": agent.PlanMode, "off": agent.NoMode, "pause": agent.PlanPaused}
	mode, ok := modes[args]
	switch {
	case ok:
		if _, err := do[SetModeResult](ctx, env, "xcsh.setMode", SetModeArgs{Folder: folderOf(cwd), Mode: mode}); err != nil {
			return "", err
		}
	case args != "":
		return "", fault.New(fault.InvalidArgument, "Use /plan on, /plan off or /plan pause.")
	default:
		live, err := env.live(ctx, folderOf(cwd))
		if err != nil {
			return "", err
		}
		state, err := live.State()
		if err != nil {
			return "", err
		}
		mode = state.Mode
	}
	switch mode {
	case agent.PlanMode:
		return "Plan mode is on: only the plan file can be changed. To turn it off, use /plan off.", nil
	case agent.PlanPaused:
		return "Plan mode is paused: changes can be made. To continue planning, use /plan on.", nil
	}
	return "Plan mode is off.", nil
}

func slashStats(ctx context.Context, env *Env, cwd, _ string) (string, error) {
	r, err := do[agent.Stats](ctx, env, "xcsh.stats", subjectIn(cwd))
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d entries", r.Entries)
	for _, role := range slices.Sorted(maps.Keys(r.Messages)) {
		fmt.Fprintf(&b, "\n* %s: %d", role, r.Messages[role])
	}
	for _, tool := range slices.Sorted(maps.Keys(r.ToolCalls)) {
		fmt.Fprintf(&b, "\n* calls of %s: %d", tool, r.ToolCalls[tool])
	}
	fmt.Fprintf(&b, "\n* tokens: %.0f in, %.0f out, %.0f read from the cache, %.0f written to it", r.Usage.Input, r.Usage.Output, r.Usage.CacheRead, r.Usage.CacheWrite)
	fmt.Fprintf(&b, "\n* cost: %.4f USD\n* context: about %d of %d tokens", r.Usage.Cost, r.Context.Tokens, r.Context.ContextWindow)
	return b.String(), nil
}
