package main

import (
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/xcsh-ls/xcsh-ls/agent/engine"
	"github.com/xcsh-ls/xcsh-ls/agent/engine/find"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/session/visible"
)

// maxCompletedModels limits the models that a shell lists: services have thousands.
const maxCompletedModels = 200

// choices are the values of flags that have few, by the name of the flag. Shells complete them.
var choices = map[string][]string{
	"approval":  {"read-only", "ask", "auto-edit", "yolo"},
	"doubtful":  {"keep", "replace"},
	"engine":    append([]string{engine.Own}, find.Names()...),
	"format":    {"html", "markdown", "text", "jsonl", "agentBase"},
	"log-level": {"debug", "info", "warn", "error"},
	"program":   {"xcsh", "pi", "omp"},
	"sandbox":   {"on", "off"},
	"since":     {"turn", "session"},
	"theme":     {"auto", "light", "dark"},
	"thinking":  {"off", "minimal", "low", "medium", "high", "xhigh", "max"},
	"trust":     {"all", "without-servers", "none"},
}

// completeFlags lets shells complete the values of the flags of a command and of those below it: choices, models, sessions and
// directories. Flags without a rule take any text.
func (f *flags) completeFlags(c *cobra.Command) {
	dir := func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return nil, cobra.ShellCompDirectiveFilterDirs
	}
	rules := map[string]cobra.CompletionFunc{
		"model":  f.completeModels,
		"resume": f.completeSessions, "fork": f.completeSessions, "session": f.completeSessions,
		"agent-dir": dir, "allow-agent-dir": dir, "also": dir, "session-dir": dir, "cwd": dir,
	}
	for name, values := range choices {
		rules[name] = cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp|cobra.ShellCompDirectiveKeepOrder)
	}
	for name, complete := range rules {
		if c.LocalFlags().Lookup(name) != nil {
			_ = c.RegisterFlagCompletionFunc(name, complete) // fails only for a flag that does not exist, or that has one
		}
	}
	for _, sub := range c.Commands() {
		f.completeFlags(sub)
	}
}

// completeModels completes a model: with those that can be used now.
func (f *flags) completeModels(cmd *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
	env, err := headless(f, io.Discard)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	r, err := execute[commands.ModelsResult](cmd.Context(), env, "xcsh.models", commands.Folder{})
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var found []string
	for _, m := range available(r.Models) {
		ref := provider.Ref{Provider: m.Provider, ID: m.ID}.String()
		if strings.HasPrefix(ref, begun) && len(found) < maxCompletedModels {
			found = append(found, visible.Line(ref)+"\t"+visible.Line(m.Name))
		}
	}
	return found, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}

// completeSessionThenFile completes the arguments of a command that takes a session and a file.
func (f *flags) completeSessionThenFile(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	if len(args) == 1 {
		return nil, cobra.ShellCompDirectiveDefault
	}
	return f.completeSession(cmd, args, begun)
}
