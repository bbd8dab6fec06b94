package acp

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// slash is a command that a user types as a prompt. Its output is shown and not recorded.
type slash struct {
	name, doc string
	hint      string // describes the arguments; "" if there are none
	run       func(ctx context.Context, c *conversation, args string) (answer string, err error)
}

// slashes returns the commands of the table that take only words and return a text.
func slashes() []slash {
	return []slash{
		{"compact", "Summarize the older part of the conversation to free up context", "focus of the summary", slashCompact},
		{"export", "Export the conversation as HTML, Markdown or JSONL", "file to write", slashExport},
		{"dump", "Show the conversation as plain text", "", slashDump},
		{"share", "Share the conversation as a web page, without likely secrets", "replace or keep likely secrets", slashShare},
		{"fork", "Copy the conversation to a new session", "", slashFork},
		{"rename", "Rename the conversation", "new title", slashRename},
		{"branch", "Decide what to do after another program continued on another branch", "follow or stay", slashBranch},
		{"plan", "Turn plan mode on or off, or pause it; only the plan file can be changed in plan mode", "on, off or pause", slashPlan},
		{"stats", "Show the number of messages and tool calls, tokens and cost", "", slashStats},
	}
}

// slashList sends the list of commands.
func slashList() []availableCommand {
	all := slashes()
	list := make([]availableCommand, len(all))
	for i, s := range all {
		list[i] = availableCommand{Name: s.name, Description: s.doc}
		if s.hint != "" {
			list[i].Input = &commandInput{Hint: s.hint}
		}
	}
	return list
}

// slashCommand returns the command in a prompt and its arguments. ok is false for a prompt with content
// other than text and for an unknown command.
func slashCommand(blocks []contentBlock) (command slash, args string, ok bool) {
	var text strings.Builder
	for _, b := range blocks {
		if b.Type != "text" {
			return slash{}, "", false
		}
		text.WriteString(b.Text)
	}
	rest, ok := strings.CutPrefix(strings.TrimSpace(text.String()), "/")
	if !ok {
		return slash{}, "", false
	}
	name := rest
	if i := strings.IndexFunc(rest, unicode.IsSpace); i >= 0 {
		name, args = rest[:i], strings.TrimSpace(rest[i:])
	}
	all := slashes()
	i := slices.IndexFunc(all, func(s slash) bool { return s.name == name })
	if i < 0 || all[i].hint == "" && args != "" {
		return slash{}, "", false
	}
	return all[i], args, true
}

// do runs a command of the table in the conversation.
func do[R any](ctx context.Context, c *conversation, name string, args any) (R, error) {
	return commands.Call[R](ctx, c.s.opts.Commands, c.env, name, args)
}

func slashCompact(ctx context.Context, c *conversation, args string) (string, error) {
	r, err := do[agent.Compaction](ctx, c, "xcsh.compact", commands.CompactArgs{Instructions: args})
	if err != nil {
		return "", err
	}
	c.sendUsage(ctx)
	return fmt.Sprintf("Compacted %d tokens. The summary:\n\n%s", r.TokensBefore, r.Summary), nil
}

func slashExport(ctx context.Context, c *conversation, args string) (string, error) {
	r, err := do[commands.ExportResult](ctx, c, "xcsh.export", commands.ExportArgs{Path: args})
	if err != nil {
		return "", err
	}
	return strings.TrimSpace("Exported to: " + r.Path + "\n\n" + commands.RedactedText(r.Redacted)), nil
}

func slashDump(ctx context.Context, c *conversation, _ string) (string, error) {
	r, err := do[commands.DumpResult](ctx, c, "xcsh.dump", struct{}{})
	return r.Text, err
}

func slashShare(ctx context.Context, c *conversation, args string) (string, error) {
	r, err := do[commands.ShareResult](ctx, c, "xcsh.share", commands.ShareArgs{Doubtful: strings.TrimSpace(args)})
	if err != nil {
		return "", err
	}
	lines := []string{}
	for _, line := range []string{r.PreviewURL, r.URL, r.Message} {
		if line != "" {
			lines = append(lines, line)
		}
	}
	if len(lines) == 0 {
		return "Shared.", nil
	}
	return strings.Join(lines, "\n\n"), nil
}

// slashFork copies the session without opening the copy: the client stays in its session.
func slashFork(ctx context.Context, c *conversation, _ string) (string, error) {
	fork, err := c.s.fork(ctx, openParams{SessionID: c.id, Cwd: c.cwd})
	if err != nil {
		return "", err
	}
	if err := c.s.leave(fork); err != nil {
		return "", err
	}
	return fmt.Sprintf("Forked to session %s, which is now in the session list. This conversation is unchanged.", fork.id), nil
}

func slashRename(ctx context.Context, c *conversation, args string) (string, error) {
	r, err := do[commands.RenameResult](ctx, c, "xcsh.rename", commands.RenameArgs{Title: args})
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("Renamed to %q.", r.Title), nil
}

// slashBranch decides about another program's branch. A fork is a session of its own; see slashFork.
func slashBranch(ctx context.Context, c *conversation, args string) (string, error) {
	choice := agent.BranchChoice(args)
	if choice != agent.FollowBranch && choice != agent.StayOnBranch {
		return "", fault.New(fault.InvalidArgument, "Use /branch follow or /branch stay.")
	}
	r, err := do[commands.ChooseBranchResult](ctx, c, commands.ChooseBranchName, commands.ChooseBranchArgs{Choice: choice})
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
func slashPlan(ctx context.Context, c *conversation, args string) (string, error) {
	modes := map[string]string{"on": agent.PlanMode, "off": agent.NoMode, "pause": agent.PlanPaused}
	mode, ok := modes[args]
	switch {
	case ok:
		if _, err := do[commands.SetModeResult](ctx, c, "xcsh.setMode", commands.SetModeArgs{Mode: mode}); err != nil {
			return "", err
		}
	case args != "":
		return "", fault.New(fault.InvalidArgument, "Use /plan on, /plan off or /plan pause.")
	default:
		state, err := c.live.State()
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

func slashStats(ctx context.Context, c *conversation, _ string) (string, error) {
	r, err := do[agent.Stats](ctx, c, "xcsh.stats", struct{}{})
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
