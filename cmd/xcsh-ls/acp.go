package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/acp"
	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/lsp"
)

func acpCommand(f *flags) *cobra.Command {
	c := &cobra.Command{
		Use:   "acp [flags]",
		Short: "Be an agent of the Agent Client Protocol, on standard input and output",
		Long: "Speaks the Agent Client Protocol, version 1, on standard input and output: the same sessions\n" +
			"for Zed, JetBrains, CodeCompanion, avante and every other client of that protocol. docs/acp.md says more.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return serveACP(cmd.Context(), f) },
	}
	own := c.Flags()
	own.BoolVar(&f.noSession, "no-session", false, "keep sessions in memory")
	own.StringVar(&f.model, "model", "", "model of new sessions: provider/id; offline/demo needs no key")
	own.StringVar(&f.thinking, "thinking", "", "thinking level of new sessions: off, minimal, low, medium, high, xhigh or max")
	own.StringVar(&f.approval, "approval", "", "what tools may change without asking: read-only, ask, auto-edit or yolo")
	return c
}

// serveACP is the agent of a client of the Agent Client Protocol.
func serveACP(ctx context.Context, f *flags) error {
	if err := f.check(); err != nil {
		return err
	}
	log, err := openLog(*f)
	if err != nil {
		return err
	}
	backend, err := acpBackend(f, log)
	if err != nil {
		return err
	}
	ignoreBrokenPipe()
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	return acp.Serve(ctx, os.Stdin, os.Stdout, acp.Options{Version: versionText(), Commands: commands.Default, Backend: backend, Log: log})
}

// acpBackend is what all conversations of a client share, and how one of them is made: storage,
// discovery and models are the same for all.
func acpBackend(f *flags, log *zap.Logger) (acp.Backend, error) {
	var s lsp.Settings
	f.override(&s)
	p, err := openPlace(s, log)
	if err != nil {
		return acp.Backend{}, err
	}
	disk := tool.Local{Fs: p.fs}
	// There is nobody to offer to what was never answered: a client has its own input.
	shared := p.config(s, false, nil, log)
	shared.InMemory = f.noSession
	withModels(&shared, p.fs, p.own, p.finder.Roots, s, disk, log)
	return acp.Backend{
		Store: p.store, Finder: p.finder, Fs: p.fs, Disk: disk,
		Sessions: func(c acp.Client) *agent.Manager {
			cfg, at := shared, s
			if c.Cwd != "" {
				at.Folders = []string{c.Cwd}
			}
			cfg.Hooks = hooks(p.own, at, lsp.Client{Warn: c.Warn}, log.Named("hook"))
			cfg.Workspace, cfg.Ask = c.Files, c.Approve
			return agent.NewManager(cfg)
		},
	}, nil
}
