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
)

// slash is a command that a person types as a prompt. What it answers is shown and not recorded.
type slash struct {
	name, doc string
	hint      string // what the words behind the name are; "" when there are none
	run       func(ctx context.Context, c *conversation, args string) (answer string, err error)
}

// slashes are the commands of the table that need nothing but words and have an answer in words.
func slashes() []slash {
	return []slash{
		{"compact", "Let the model summarise the older part of the conversation, so that there is room again", "what to look at in particular", slashCompact},
		{"export", "Write the conversation as a page, Markdown or JSONL", "file to write", slashExport},
		{"dump", "Show the conversation as plain text", "", slashDump},
		{"share", "Hand the conversation to others as a page, without what looks like a secret", "", slashShare},
		{"fork", "Copy the conversation into a session of its own, which is in the list of sessions", "", slashFork},
		{"rename", "Name the conversation", "new title", slashRename},
		{"stats", "Count messages, tool calls, tokens and cost", "", slashStats},
	}
}

// slashList tells a client which commands there are.
func slashList() []availableCommand {
	all := slashes()
	list := make([]availableCommand, len(all))
	for i, s := range all {
		list[i] = availableCommand{Name: s.name, Description: s.doc}
		if s.hint != "" {
			list[i].Input = &commandInput{s.hint}
		}
	}
	return list
}

// slashCommand returns the command that a prompt is, and the words behind its name. A prompt
// with anything but text is none, and neither is one that begins with a slash and another word.
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

// do runs a command of the table for the conversation.
func do[R any](ctx context.Context, c *conversation, name string, args any) (R, error) {
	return commands.Call[R](ctx, c.s.opts.Commands, c.env, name, args)
}

func slashCompact(ctx context.Context, c *conversation, args string) (string, error) {
	r, err := do[agent.Compaction](ctx, c, "xcsh.compact", commands.CompactArgs{Instructions: args})
	if err != nil {
		return "", err
	}
	c.tellUsage(ctx)
	return fmt.Sprintf("%d tokens became this summary:\n\n%s", r.TokensBefore, r.Summary), nil
}

func slashExport(ctx context.Context, c *conversation, args string) (string, error) {
	r, err := do[commands.ExportResult](ctx, c, "xcsh.export", commands.ExportArgs{Path: args})
	if err != nil {
		return "", err
	}
	return "Exported to: " + r.Path, nil
}

func slashDump(ctx context.Context, c *conversation, _ string) (string, error) {
	r, err := do[commands.DumpResult](ctx, c, "xcsh.dump", struct{}{})
	return r.Text, err
}

func slashShare(ctx context.Context, c *conversation, _ string) (string, error) {
	r, err := do[commands.ShareResult](ctx, c, "xcsh.share", commands.ShareArgs{})
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

// slashFork makes a copy and leaves it: the client goes on in the session that it knows.
func slashFork(ctx context.Context, c *conversation, _ string) (string, error) {
	fork, err := c.s.fork(ctx, openParams{SessionID: c.id, Cwd: c.cwd})
	if err != nil {
		return "", err
	}
	if err := c.s.leave(fork); err != nil {
		return "", err
	}
	return fmt.Sprintf("Forked to session %s, which is in the list of sessions. This conversation goes on as it was.", fork.id), nil
}

func slashRename(ctx context.Context, c *conversation, args string) (string, error) {
	r, err := do[commands.RenameResult](ctx, c, "xcsh.rename", commands.RenameArgs{Title: args})
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("Renamed to %q.", r.Title), nil
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
