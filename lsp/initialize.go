package lsp

import (
	"bytes"
	"context"
	"encoding/json"
	"path/filepath"
	"strings"

	"go.lsp.dev/protocol"
	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/approval"
	"github.com/xcsh-ls/xcsh-ls/agent/change"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
	"github.com/xcsh-ls/xcsh-ls/lsp/conn"
	"github.com/xcsh-ls/xcsh-ls/lsp/textdoc"
)

// initialize opens the backend and answers with the server's capabilities. If it fails, the client may
// try again.
func (s *server) initialize(ctx context.Context, raw json.RawMessage) (any, error) {
	var params map[string]json.RawMessage
	if err := json.Unmarshal(raw, &params); err != nil && !isEmptyJSON(raw) {
		return nil, conn.ParamsError(protocol.MethodInitialize, "params", err)
	}
	s.client = readClient(params)
	enc := textdoc.ChooseEncoding(s.client.encodings)
	s.documents.setEncoding(enc)
	s.sessionDocs.SetClient(s.client.sessionDocs)
	s.folders.change(s.folders.list(), initialFolders(params, s.log))

	s.config.options = params["initializationOptions"]
	settings, problems := readSettings(s.config.options, s.log)
	for _, p := range problems {
		s.log.Warn(p)
	}
	settings.Folders = s.folders.list()
	if providers, ok := readKeyProviders(s.config.options); ok {
		s.keys = &clientKeys{s: s}
		s.keys.set(providers)
	}
	result, err := s.capabilities(enc, settings.UI.Hooks)
	if err != nil {
		return nil, err
	}
	// Nothing may fail after this, because the backend of a failed attempt is not closed.
	s.config.settings = settings
	if err := s.openBackend(ctx, settings); err != nil {
		return nil, err
	}
	s.notices = problems
	s.watchParent(valueAt[int](params["processId"]))
	s.state.advance(phaseRunning)
	s.log.Info("initialized", zap.String("client", conn.Printable(s.client.name)), zap.String("positionEncoding", string(enc)),
		zap.Int("folders", len(settings.Folders)))
	return result, nil
}

// openBackend makes the Env of all commands of this connection. It closes the backend of the previous
// Env, which no command has used.
func (s *server) openBackend(ctx context.Context, settings Settings) error {
	var b Backend
	if s.opts.Open != nil {
		c := Client{
			Documents: s.documents, Folders: s.folders.list,
			Warn: func(text string) { s.showMessage(commands.LevelWarning, text) },
			Pace: s.conn.CaughtUp, RunsExtensions: s.config.runsExtensions, Restricted: s.config.restricted,
			Approve: func(ctx context.Context, r agent.Approval) (approval.Decision, error) {
				return s.approve(ctx, r, settings.UI.Hooks)
			},
			CanAsk:    func() bool { return true },
			Workspace: func(disk tool.Workspace) tool.Workspace { return workspace{s, disk} },

			EditorDocuments: func(disk tool.Workspace) change.Documents { return editorDocs{workspace{s, disk}} },

			Editor: s.senses, DiagnosesEdits: s.config.diagnosesEdits,
		}
		if s.keys != nil {
			c.Keys = s.keys
		}
		if settings.UI.Hooks {
			c.Hook, c.AskForm = &clientHooks{s: s}, s.askForm
		}
		var err error
		if b, err = s.opts.Open(ctx, settings, c); err != nil {
			return err
		}
	}
	s.documents.inputs.setDir(b.InputDir)
	if b.Reviewer != nil {
		s.reviewer = b.Reviewer
	}
	s.config.env = &commands.Env{
		Sessions: b.Sessions, Store: b.Store, Finder: b.Finder, Fs: b.Fs,
		Workspace: b.Files, UI: clientUI{s}, Folders: s.folders.list, Pick: settings.UI.Pick, Late: settings.LateValues, OpenPages: settings.opensPages(), Tell: s.teller(settings), Log: s.opts.Log,
		Restricted: s.config.restricted, Context: s.context(), PDF: b.PDF, Team: b.Team, Follows: s.follows, After: s.opts.Clock.AfterFunc,
	}
	live := b.Live
	if live == nil && b.Sessions != nil {
		live = b.Sessions
	}
	s.sessions.open(live, s.forward)
	return nil
}

// capabilities returns the result of initialize. ownInterface is set for a client with an interface for sessions.
func (s *server) capabilities(enc textdoc.Encoding, ownInterface bool) (json.RawMessage, error) {
	result, err := protocol.Marshal(&protocol.InitializeResult{
		ServerInfo: protocol.ServerInfo{Name: "xcsh-ls", Version: protocol.NewOptional(s.opts.Version)},
		Capabilities: protocol.ServerCapabilities{
			PositionEncoding: enc,
			TextDocumentSync: &protocol.TextDocumentSyncOptions{
				OpenClose: new(true),
				Change:    new(protocol.TextDocumentSyncKindIncremental),
				Save:      protocol.Boolean(true),
			},
			ExecuteCommandProvider: protocol.ExecuteCommandOptions{
				Commands:                s.opts.Commands.Names(),
				WorkDoneProgressOptions: protocol.WorkDoneProgressOptions{WorkDoneProgress: new(true)},
			},
			Workspace: &protocol.WorkspaceOptions{
				WorkspaceFolders: &protocol.WorkspaceFoldersServerCapabilities{
					Supported:           new(true),
					ChangeNotifications: protocol.Boolean(true),
				},
				TextDocumentContent: s.client.contentOptions(),
			},
			DocumentSymbolProvider: protocol.Boolean(true),
			FoldingRangeProvider:   protocol.Boolean(true),
			HoverProvider:          protocol.Boolean(true),
			DocumentLinkProvider:   &protocol.DocumentLinkOptions{},
			CodeLensProvider:       &protocol.CodeLensOptions{},
			CompletionProvider:     completionOptions(ownInterface),
			CodeActionProvider:     &protocol.CodeActionOptions{CodeActionKinds: []protocol.CodeActionKind{kindAsk, kindFix}},
		},
	})
	if err != nil {
		return nil, fault.New(fault.Internal, "The capabilities could not be encoded: %w.", err)
	}
	experimental, err := s.experimental()
	if err != nil {
		return nil, fault.New(fault.Internal, "The list of commands could not be encoded: %w.", err)
	}
	own := new(rawjson.Object).Raw("xcsh", experimental).Bytes()
	capabilities := rawjson.Set(rawjson.Get(result, "capabilities"), "experimental", own)
	return rawjson.Set(result, "capabilities", capabilities), nil
}

// experimental returns capabilities.experimental.xcsh. A list of commands that is JSON already is
// inserted without decoding it, which would take a tenth of the start-up time. Only its line breaks
// are removed, because no other message has any.
func (s *server) experimental() (json.RawMessage, error) {
	list, isJSON := s.opts.Manifest.(json.RawMessage)
	if !isJSON {
		return conn.EncodeJSON(Experimental{WireVersion: WireVersion, Commands: s.opts.Manifest})
	}
	raw, err := conn.EncodeJSON(Experimental{WireVersion: WireVersion})
	return rawjson.Set(raw, "commands", bytes.ReplaceAll(list, []byte("\n"), nil)), err
}

// initialFolders returns the workspace folders of initialize. workspaceFolders takes precedence over
// rootUri, and rootUri over rootPath. A client may have none.
func initialFolders(params map[string]json.RawMessage, log *zap.Logger) []string {
	if paths := folderPaths(params["workspaceFolders"], log); len(paths) > 0 {
		return paths
	}
	if root := valueAt[string](params["rootUri"]); root != "" {
		if path, ok := textdoc.Path(root); ok {
			return []string{path}
		}
		log.Warn("ignored a rootUri that is not a file: URI", zap.String("uri", conn.Printable(root)))
	}
	root := valueAt[string](params["rootPath"])
	if root != "" && filepath.IsAbs(root) && !strings.ContainsRune(root, 0) {
		return []string{filepath.Clean(root)}
	}
	return nil
}
