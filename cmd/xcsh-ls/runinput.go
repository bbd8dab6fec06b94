package main

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/convert"
	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session/visible"
)

// promptArgs are the arguments of run.
type promptArgs struct {
	words string                // joined by spaces
	typed string                // the words that may be references or a slash command; not those behind "--"
	files []commands.Attachment // named by @FILE
	stdin bool                  // "-" stands for the prompt
}

// parsePrompt sorts the arguments of run. Behind "--" all of them are words.
func parsePrompt(cmd *cobra.Command, args []string) (promptArgs, error) {
	var p promptArgs
	var words, typed []string
	literal := cmd.ArgsLenAtDash()
	for i, arg := range args {
		name, isFile := strings.CutPrefix(arg, "@")
		switch {
		case literal >= 0 && i >= literal:
			words = append(words, arg)
		case arg == "-":
			p.stdin = true
		case isFile && name != "":
			p.files = append(p.files, commands.Attachment{URI: name})
		default:
			words = append(words, arg)
			typed = append(typed, arg)
		}
	}
	p.typed = strings.Join(typed, " ")
	if p.words = strings.Join(words, " "); strings.TrimSpace(p.words) == "" {
		p.words = ""
	}
	switch {
	case p.stdin && p.words != "":
		return p, usageError(cmd, errors.New(`"-" stands for the whole prompt and can't be combined with other words`))
	case !p.stdin && p.words == "" && len(p.files) == 0 && !redirected(os.Stdin):
		return p, missingPrompt(cmd)
	}
	return p, nil
}

func missingPrompt(cmd *cobra.Command) error {
	return usageError(cmd, errors.New("missing argument: PROMPT"))
}

// input reads everything that the prompt consists of: its files and standard input.
func (p promptArgs) input(ctx context.Context, cmd *cobra.Command, env *commands.Env) (agent.Input, error) {
	attached, images, err := commands.Attach(ctx, env, env.Folders()[0], p.files)
	if err != nil {
		if fault.Is(err, fault.NotFound) {
			err = fault.New(fault.InvalidArgument, `%w. Words that begin with @ name files; put "--" before a prompt with others.`, err)
		}
		return agent.Input{}, err
	}
	named, err := commands.Refer(ctx, env, env.Folders()[0], p.typed, p.files)
	if err != nil {
		return agent.Input{}, err
	}
	for _, note := range named.Notes {
		cmd.PrintErrln(note)
	}
	in := agent.Input{Text: p.words, Attached: attached + named.Text, Images: slices.Concat(images, named.Images)}
	if !p.stdin && !redirected(os.Stdin) {
		return in, nil
	}
	only := p.words == "" && len(p.files) == 0
	text, err := stdinText(ctx, cmd.InOrStdin(), only, func(notice string) { cmd.PrintErrln(notice) })
	switch {
	case err != nil:
		return agent.Input{}, err
	case text == "" && p.stdin:
		return agent.Input{}, fault.New(fault.InvalidArgument, "Standard input is empty, so there is no prompt.")
	case text == "" && only:
		return agent.Input{}, missingPrompt(cmd)
	}
	return withStdin(in, text), nil
}

// maxTyped is the longest text of standard input that the prompt history gets, in bytes: a question, not
// the output of a program.
const maxTyped = 8 << 10

// withStdin adds the text of standard input to a prompt: behind its words, or in their place.
//
// Differs: pi begins a prompt with the text of standard input, without a separator. Here it follows the
// user's words, by which a session is titled, in an element of its own.
func withStdin(in agent.Input, text string) agent.Input {
	switch {
	case text == "":
	case in.Text != "":
		in.Appended = "\n\n" + convert.Stdin(text)
	case len(text) > maxTyped:
		in.Appended = text
	default:
		in.Text = text
	}
	return in
}

// completeFiles completes the name of a file behind "@".
func completeFiles(_ *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
	name, is := strings.CutPrefix(begun, "@")
	if !is {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	dir, base := filepath.Split(name)
	entries, err := os.ReadDir(cmp.Or(dir, "."))
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var names []string
	directive := cobra.ShellCompDirectiveNoFileComp
	for _, e := range entries {
		switch {
		case !strings.HasPrefix(e.Name(), base), base == "" && strings.HasPrefix(e.Name(), "."):
		case visible.Line(e.Name()) != e.Name(): // a line break would begin another completion
		case e.IsDir():
			names = append(names, "@"+dir+e.Name()+"/")
			directive |= cobra.ShellCompDirectiveNoSpace
		default:
			names = append(names, "@"+dir+e.Name())
		}
	}
	return names, directive
}
