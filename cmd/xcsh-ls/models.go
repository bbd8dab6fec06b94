package main

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/provider/offline"
	"github.com/xcsh-ls/xcsh-ls/commands"
)

func modelsCommand(f *flags) *cobra.Command {
	var all, asJSON bool
	c := &cobra.Command{
		Use:   "models",
		Short: "List the models that can be used",
		Long: "List the models that can be used now: an API key is set, or none is needed. --all lists every model\n" +
			"that xcsh-ls knows. Keys are never printed.\n\n" +
			"The columns are the model's name for --model, its title, context window, longest answer, thinking\n" +
			"levels, images, the price of a million input and output tokens, and whether it can be used.",
		Example: examples(
			"# Find a model to pass to run", "xcsh-ls models",
			"# As JSON, also the models without a key", "xcsh-ls models --all --json",
		),
		Args: takes(0, 0, ""),
		RunE: inFolder(f, func(cmd *cobra.Command, env *commands.Env, _ []string) error {
			r, err := execute[commands.ModelsResult](cmd.Context(), env, "xcsh.models", commands.Folder{})
			if err != nil {
				return err
			}
			if !all {
				r.Models = available(r.Models)
			}
			if !asJSON && !usesModel(r.Models) {
				fmt.Fprintln(cmd.ErrOrStderr(), "No model is ready to use. "+noModelAdvice)
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), r)
			}
			return printModelRows(cmd.OutOrStdout(), stdoutScreen(), r.Models)
		}),
	}
	c.Flags().BoolVar(&all, "all", false, "also list models without a key")
	c.Flags().BoolVar(&asJSON, "json", false, "print the result as JSON")
	return c
}

// usesModel reports whether any of the models beside the offline demo can be used.
func usesModel(models []commands.ModelItem) bool {
	return slices.ContainsFunc(models, func(m commands.ModelItem) bool { return m.Available && m.Provider != offline.Model.Provider })
}

func available(models []commands.ModelItem) []commands.ModelItem {
	usable := []commands.ModelItem{}
	for _, m := range models {
		if m.Available {
			usable = append(usable, m)
		}
	}
	return usable
}

// printModelRows prints a row for each model.
func printModelRows(w io.Writer, to screen, models []commands.ModelItem) error {
	t := table{
		screen: to, head: []string{"MODEL", "TITLE", "CONTEXT", "OUTPUT", "THINKING", "IMAGES", "PRICE", "STATUS"},
		shrink: []int{1, 4}, dim: []int{2, 3, 4, 5, 6}, // title, then thinking levels
		drop: []int{5, 4, 3, 6, 1, 2}, long: true, // images first, the context last
	}
	for _, m := range models {
		ref := provider.Ref{Provider: m.Provider, ID: m.ID}
		t.add(ref.String(), m.Name, tokens(m.ContextWindow)+" context", tokens(m.MaxOutput)+" output",
			thinking(m), either(m.Images, "images", "no images"), price(m.Cost), either(m.Available, "ready", "no key"))
	}
	return t.print(w)
}

// tokens returns a number of tokens, rounded to thousands.
func tokens(n int) string {
	if n < 1000 {
		return strconv.Itoa(n)
	}
	return strconv.Itoa((n+500)/1000) + "k"
}

func thinking(m commands.ModelItem) string {
	if !m.Reasoning {
		return "no thinking"
	}
	var levels []string
	for _, l := range m.ThinkingLevels {
		levels = append(levels, string(l))
	}
	return "thinking " + strings.Join(levels, ",")
}

func price(c *provider.Cost) string {
	if c == nil {
		return "price unknown"
	}
	return fmt.Sprintf("$%.4g in, $%.4g out", c.Input, c.Output)
}

func either(is bool, yes, no string) string {
	if is {
		return yes
	}
	return no
}
