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
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/session/fault"
	"github.com/xcsh-ls/xcsh-ls/session/rawjson"
)

// initialize opens the backend and tells the client what the server can do. The
// client may try again when it fails.
func (s *server) initialize(ctx context.Context, raw json.RawMessage) (any, error) {
	var params map[string]json.RawMessage
	if err := json.Unmarshal(raw, &params); err != nil && !isEmptyJSON(raw) {
		return nil, paramsError(protocol.MethodInitialize, "params", err)
	}
	s.client = readClient(params)
	enc := chooseEncoding(s.client.encodings)
	s.documents.setEncoding(enc)
	s.folders.change(s.folders.list(), initialFolders(params, s.log))

	s.config.options = params["initializationOptions"]
	settings, problems := readSettings(s.config.options, s.log)
	for _, p := range problems {
		s.log.Warn(p)
	}
	settings.Folders = s.folders.list()
	result, err := s.capabilities(enc)
	if err != nil {
		return nil, err
	}
	// Last of what can fail: nobody would close the backend of a failed attempt.
	s.config.settings = settings
	if err := s.openBackend(ctx, settings); err != nil {
		return nil, err
	}
	s.notices = problems
	s.watchParent(valueAt[int](params["processId"]))
	s.state.advance(phaseRunning)
	s.log.Info("initialized", zap.String("client", printable(s.client.name)), zap.String("positionEncoding", string(enc)),
		zap.Int("folders", len(settings.Folders)))
	return result, nil
}

// openBackend makes the Env that every command of this connection gets. When there is one
// already its backend, which no command has used, is closed.
func (s *server) openBackend(ctx context.Context, settings Settings) error {
	var b Backend
	if s.opts.Open != nil {
		c := Client{
			Documents: s.documents,
			Warn:      func(text string) { s.showMessage(commands.LevelWarning, text) },
			Approve: func(ctx context.Context, r agent.Approval) (approval.Decision, error) {
				return s.approve(ctx, r, settings.UI.Hooks)
			},
			Workspace: func(disk tool.Workspace) tool.Workspace { return workspace{s, disk} },
		}
		if settings.UI.Hooks {
			c.Hook = clientHooks{s}
		}
		var err error
		if b, err = s.opts.Open(ctx, settings, c); err != nil {
			return err
		}
	}
	s.documents.inputs.setDir(b.InputDir)
	s.config.env = &commands.Env{
		Sessions: b.Sessions, Store: b.Store, Finder: b.Finder, Fs: b.Fs,
		Workspace: b.Files, UI: clientUI{s}, Folders: s.folders.list, Pick: settings.UI.Pick, Tell: s.teller(settings), Log: s.opts.Log,
	}
	live := b.Live
	if live == nil && b.Sessions != nil {
		live = b.Sessions
	}
	s.sessions.open(live, s.forward)
	return nil
}

// capabilities is the answer to initialize.
func (s *server) capabilities(enc encoding) (json.RawMessage, error) {
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

// experimental is capabilities.experimental.xcsh. A list of commands that is JSON
// already is put in without being read, which would be a tenth of a start. Only its line
// ends go: no other message has any.
func (s *server) experimental() (json.RawMessage, error) {
	list, isJSON := s.opts.Manifest.(json.RawMessage)
	if !isJSON {
		return encodeJSON(Experimental{WireVersion: WireVersion, Commands: s.opts.Manifest})
	}
	raw, err := encodeJSON(Experimental{WireVersion: WireVersion})
	return rawjson.Set(raw, "commands", bytes.ReplaceAll(list, []byte("\n"), nil)), err
}

// initialFolders returns the workspace folders of initialize. workspaceFolders
// wins over rootUri, that over rootPath; a client without any is fine.
func initialFolders(params map[string]json.RawMessage, log *zap.Logger) []string {
	if paths := folderPaths(params["workspaceFolders"], log); len(paths) > 0 {
		return paths
	}
	if root := valueAt[string](params["rootUri"]); root != "" {
		if path, ok := filePath(root); ok {
			return []string{path}
		}
		log.Warn("ignored a rootUri that is not a file: URI", zap.String("uri", printable(root)))
	}
	root := valueAt[string](params["rootPath"])
	if root != "" && filepath.IsAbs(root) && !strings.ContainsRune(root, 0) {
		return []string{filepath.Clean(root)}
	}
	return nil
}
