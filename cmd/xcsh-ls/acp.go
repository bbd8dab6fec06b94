package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"

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
		Use:   "acp [flags] [login [PROVIDER|ENGINE]]",
		Short: "Run an Agent Client Protocol agent",
		Long: "Run an agent that speaks version 1 of the Agent Client Protocol (ACP) on standard input and\n" +
			"output, for Zed, JetBrains IDEs, CodeCompanion, avante and other ACP clients. It uses the same\n" +
			"sessions as the language server and the other commands. See docs/acp.md.\n\n" +
			"Clients append 'login' to this command line to log in in a terminal. It is the command\n" +
			"'xcsh-ls login'.",
		Example: examples("# Use this command line in the settings of an ACP client", "xcsh-ls acp --approval ask"),
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 && args[0] != "login" {
				return usageError(cmd, fmt.Errorf("unexpected argument: %q", args[0]))
			}
			return takes(0, 2, "login and one provider or engine")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return acpLogin(f, cmd, args[1:])
			}
			return serveACP(cmd.Context(), f)
		},
	}
	f.registerAgent(c)
	f.registerEngine(c)
	c.Flags().BoolVar(&f.noServerFiles, "no-mcp-files", false, "use only the MCP servers that the client asks for, and none of configuration files")
	return c
}

// acpLogin is 'xcsh-ls login' with the flags of 'xcsh-ls acp', so that the key is stored where that command looks for it.
func acpLogin(f *flags, cmd *cobra.Command, args []string) error {
	login := loginCommand(f)
	login.SetContext(cmd.Context())
	login.SetIn(cmd.InOrStdin())
	login.SetOut(cmd.OutOrStdout())
	login.SetErr(cmd.ErrOrStderr())
	return login.RunE(login, args)
}

// serveACP serves a client of the Agent Client Protocol.
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
	defer finishTeam(context.WithoutCancel(ctx), backend.Team, zap.NewStdLog(log).Writer())
	startTeam(backend.Team)
	ignoreBrokenPipe()
	ctx, stop := signal.NotifyContext(ctx, stopSignals()...)
	defer stop()
	return acp.Serve(ctx, os.Stdin, os.Stdout, acp.Options{Version: versionText(), Commands: commands.Default, Backend: backend, Engine: f.engine, Log: log})
}

// acpBackend returns the storage, discovery and models that all conversations of a client share, and the
// constructor of a conversation.
func acpBackend(f *flags, log *zap.Logger) (acp.Backend, error) {
	var s lsp.Settings
	f.override(&s)
	var folders folderList
	p, err := openPlace(s, folders.all, log)
	if err != nil {
		return acp.Backend{}, err
	}
	disk := tool.Local{Fs: p.fs}
	recoverAlone(p.config(s, false, nil, log), log)
	shared := p.config(s, false, nil, log)
	shared.History = p.promptHistory(s, true, nil, log)
	shared.InMemory = f.noSession
	p.withModels(&shared, s, disk, lsp.Client{}, log)
	shared.Servers.OnlyClient = f.noServerFiles
	shared.Engines = p.engines(withoutChoice(s), lsp.Client{Folders: folders.all}, report(nil, log.Named("engine")), log.Named("engine"))
	store := openTeam(p, s, folders.all, log)
	shared.Shared = store.shared
	return acp.Backend{
		Team: store.team, Store: p.store, Finder: p.finder, Fs: p.fs, Disk: disk,
		PDF: p.pdfText(s, log),
		Sessions: func(c acp.Client) *agent.Manager {
			cfg, at := shared, s
			if c.Cwd != "" {
				at.Folders = []string{c.Cwd}
				folders.add(c.Cwd)
			}
			cfg.Hooks = p.hooks(at, lsp.Client{Warn: c.Warn}, log.Named("hook"))
			cfg.Documents = c.Texts
			cfg.Workspace, cfg.Ask, cfg.Pace, cfg.MCPServers = c.Files, c.Approve, c.Pace, c.MCPServers
			cfg.CanAsk, cfg.AskForm = c.CanAsk, c.AskForm
			return agent.NewManager(cfg)
		},
	}, nil
}
