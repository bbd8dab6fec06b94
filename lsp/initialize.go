package lsp

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"

	"go.lsp.dev/protocol"
	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/session/fault"
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

	settings, problems := readSettings(params["initializationOptions"], s.log)
	for _, p := range problems {
		s.log.Warn(p)
	}
	settings.Folders = s.folders.list()
	result, err := s.capabilities(enc)
	if err != nil {
		return nil, err
	}
	// Last of what can fail: nobody would close the backend of a failed attempt.
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

// openBackend makes the Env that every command of this connection gets.
func (s *server) openBackend(ctx context.Context, settings Settings) error {
	var b Backend
	if s.opts.Open != nil {
		c := Client{Documents: s.documents}
		if settings.UI.Hooks {
			c.Hook = clientHooks{s}
		}
		var err error
		if b, err = s.opts.Open(ctx, settings, c); err != nil {
			return err
		}
	}
	s.env = &commands.Env{
		Sessions: b.Sessions, Store: b.Store, Finder: b.Finder, Fs: b.Fs,
		UI: clientUI{s}, Folders: s.folders.list, Pick: settings.UI.Pick, Log: s.opts.Log,
	}
	live := b.Live
	if live == nil && b.Sessions != nil {
		live = b.Sessions
	}
	s.sessions.open(live, s.forward)
	return nil
}

// capabilities is the answer to initialize.
func (s *server) capabilities(enc encoding) (*protocol.InitializeResult, error) {
	experimental, err := encodeJSON(map[string]Experimental{
		"xcsh": {WireVersion: WireVersion, Commands: s.opts.Manifest},
	})
	if err != nil {
		return nil, fault.New(fault.Internal, "The list of commands could not be encoded: %w.", err)
	}
	return &protocol.InitializeResult{
		ServerInfo: protocol.ServerInfo{Name: "xcsh-ls", Version: protocol.NewOptional(s.opts.Version)},
		Capabilities: protocol.ServerCapabilities{
			PositionEncoding: enc,
			TextDocumentSync: &protocol.TextDocumentSyncOptions{
				OpenClose: new(true),
				Change:    new(protocol.TextDocumentSyncKindIncremental),
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
			},
			Experimental: protocol.LSPAny(experimental),
		},
	}, nil
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
