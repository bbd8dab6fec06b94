package commands

import (
	"context"
	"slices"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/engine"
	"github.com/xcsh-ls/xcsh-ls/commands/composer"
)

// Slash is a command that a user types as a prompt, as in "/rename New title". It runs a command of the table that takes
// only words. Its answer is Markdown, is shown to the user and is not recorded.
type Slash struct {
	Name, Doc string
	Hint      string // describes the arguments; "" if there are none

	run func(ctx context.Context, env *Env, cwd, args string) (answer string, err error)
}

// Slashes are the slash commands, in display order.
func Slashes() []Slash {
	return []Slash{
		{"compact", "Summarize the older part of the conversation to free up context", "focus of the summary", slashCompact},
		{"export", "Export the conversation as HTML, Markdown or JSONL", "file to write", slashExport},
		{"dump", "Show the conversation as plain text", "", slashDump},
		{"share", "Share the conversation as a web page, without likely secrets", "replace or keep likely secrets", slashShare},
		{"fork", "Copy the conversation to a new session", "", slashFork},
		{"rename", "Rename the conversation", "new title", slashRename},
		{"branch", "Decide what to do after another program continued on another branch", "follow or stay", slashBranch},
		{"plan", "Turn plan mode on or off, or pause it; only the plan file can be changed in plan mode", "on, off or pause", slashPlan},
		{"changes", "Show the file changes of the last turn, or of the whole session", "session for all turns", slashChanges},
		{"rewind", "Undo the file changes since an earlier prompt; the answer is a plan and how to carry it out", "number of prompts", slashRewind},
		{"redo", "Undo the last rewind of files", "", slashRedo},
		{"stats", "Show the number of messages and tool calls, tokens and cost", "", slashStats},
	}
}

// SlashOf returns the slash command that a prompt is, and its arguments. ok is false for a text that begins with a slash
// but is no command, such as a path, and for arguments of a command that takes none.
func SlashOf(text string) (s Slash, args string, ok bool) {
	name, args, ok := composer.Slash(text)
	all := Slashes()
	i := slices.IndexFunc(all, func(s Slash) bool { return s.Name == name })
	if !ok || i < 0 || all[i].Hint == "" && args != "" {
		return Slash{}, "", false
	}
	return all[i], args, true
}

// ReplacedBy reports whether an engine has a command with the same name, which comes first.
func (s Slash) ReplacedBy(theirs []engine.Command) bool {
	return slices.ContainsFunc(theirs, func(c engine.Command) bool { return c.Name == s.Name })
}

// Run runs the command in the session of the folder cwd and returns its answer.
func (s Slash) Run(ctx context.Context, env *Env, cwd, args string) (answer string, err error) {
	return s.run(ctx, env, cwd, args)
}

// SlashIn is [SlashOf] in a session. The commands of a program that answers there are the user's own, so they come first;
// the program is started if it is not running.
func SlashIn(ctx context.Context, live *agent.Session, text string) (s Slash, args string, ok bool) {
	s, args, ok = SlashOf(text)
	if !ok || live.Engine().Name == engine.Own {
		return s, args, ok
	}
	theirs, err := live.Commands(ctx)
	return s, args, err == nil && !s.ReplacedBy(theirs)
}

// slashSource is the source of the slash commands of this program.
const slashSource = "xcsh"

// withSlashes adds the slash commands of this program to those of an engine.
func withSlashes(theirs []engine.Command) []engine.Command {
	list := slices.Clone(theirs)
	for _, s := range Slashes() {
		if !s.ReplacedBy(theirs) {
			list = append(list, engine.Command{Name: s.Name, Description: s.Doc, ArgumentHint: s.Hint, Source: slashSource})
		}
	}
	return list
}
