package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"
	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/agent/tool/manifest"
	"github.com/xcsh-ls/xcsh-ls/agent/trust"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/lsp"
)

// toolFolder returns the user's folder of tools at a place. The names of builtin cannot be used again.
func (p place) toolFolder(s lsp.Settings, shell tool.Shell, builtin []tool.Tool, tell func(text string)) manifest.Folder {
	agentDir := p.finder.Roots[0].AgentDir
	f := manifest.Folder{Fs: p.fs, Dir: filepath.Join(p.own, "tools"), Shell: shell, Report: tell}
	for _, t := range builtin {
		f.Taken = append(f.Taken, t.Name)
	}
	f.Check = func(cwd string) error {
		if err := p.gate.Check(agentDir); err != nil || p.gate.Owns(agentDir) {
			return err
		}
		folders := slices.Clone(s.Folders) // a workspace's settings may have named the directory
		if cwd != "" {
			folders = append(folders, cwd)
		}
		gate := trust.Gate{Fs: p.fs, Home: p.env.Home, Folders: func() []string { return folders }}
		if folder, inside := gate.Inside(f.Dir); inside {
			return fault.New(fault.Denied, "The tools in %s are not run because they are in the workspace %s.", f.Dir, folder)
		}
		return nil
	}
	f.ReadOnly = func(name, digest string) bool {
		ok, err := p.gate.Store.Has(readOnly(f.Dir, name, digest))
		return ok && err == nil
	}
	return f
}

// readOnly is the user's decision that a tool with this digest only reads.
func readOnly(dir, name, digest string) trust.Trust {
	return trust.Trust{Folder: filepath.Join(dir, name), What: trust.ReadOnlyTool, SHA256: digest}
}

// userTools returns the tools of the user's manifests.
func (p place) userTools(s lsp.Settings, shell tool.Shell, builtin []tool.Tool, tell func(about, text string)) []tool.Tool {
	var tools []tool.Tool
	for _, t := range p.toolFolder(s, shell, builtin, func(text string) { tell(text, text) }).Load() {
		tools = append(tools, t.Tool)
	}
	return tools
}

func toolsCommand(f *flags) *cobra.Command {
	var confirm string
	c := &cobra.Command{
		Use:   "tools",
		Short: "List the tools of your manifests",
		Long: "List the tools that your manifests add for the model, and the manifests that are not used.\n" +
			"--read-only confirms that a tool only reads, as its manifest says: it then runs without approval,\n" +
			"in the strict sandbox, until its manifest or its executable changes.",
		Example: examples(
			"# Check a new manifest", "xcsh-ls tools",
			"# Let a tool run without approval", "xcsh-ls tools --read-only weather",
		),
		Args: takes(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			var s lsp.Settings
			f.override(&s)
			cwd, err := os.Getwd()
			if err != nil {
				return fault.New(fault.IO, "The working directory is unknown: %w", err)
			}
			s.Folders = []string{cwd}
			folders := func() []string { return s.Folders }
			if err := allow(s, folders); err != nil {
				return err
			}
			p, err := openPlace(s, folders, zap.NewNop())
			if err != nil {
				return err
			}
			folder := p.toolFolder(s, tool.Shell{}, tool.All(tool.Options{Fs: p.fs}), func(text string) { _, _ = fmt.Fprintln(cmd.ErrOrStderr(), text) })
			tools := folder.Load()
			if confirm != "" {
				return p.confirm(folder, tools, confirm)
			}
			return printTools(cmd, tools)
		},
	}
	c.Flags().StringVar(&confirm, "read-only", "", "confirm that the tool `NAME` only reads")
	return c
}

// confirm records that the tool name only reads.
func (p place) confirm(folder manifest.Folder, tools []manifest.Tool, name string) error {
	i := slices.IndexFunc(tools, func(t manifest.Tool) bool { return t.Name == name })
	switch {
	case i < 0:
		return fault.New(fault.NotFound, "There is no tool %q in %s.", name, folder.Dir)
	case !tools[i].ReadOnly:
		return fault.New(fault.InvalidArgument, `The manifest of %s does not declare "readOnly": true.`, name)
	}
	return p.gate.Store.Add(readOnly(folder.Dir, name, tools[i].Digest))
}

func printTools(cmd *cobra.Command, tools []manifest.Tool) error {
	if len(tools) == 0 {
		_, err := fmt.Fprintln(cmd.OutOrStdout(), "No tools found")
		return err
	}
	t := table{screen: stdoutScreen(), head: []string{"NAME", "PROGRAM", "APPROVAL"}, shrink: []int{1}, dim: []int{1}}
	for _, tool := range tools {
		state := "needs approval"
		switch {
		case tool.Confirmed:
			state = "read-only"
		case tool.ReadOnly:
			state = "read-only, not confirmed; needs approval"
		}
		t.add(tool.Name, tool.Executable, state)
	}
	return t.print(cmd.OutOrStdout())
}
