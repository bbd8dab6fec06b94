package acp

import (
	"encoding/json"

	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/agent/engine"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
)

// clientInfo holds the capabilities of the client.
type clientInfo struct {
	initialized bool
	readFile    bool // text files, including unsaved changes
	writeFile   bool
	notices     bool // messages for the user outside the conversation
	compaction  bool // updates about compactions
	forms       bool // questions to the user
	terminal    bool // the user can log in in a terminal
	oldTerminal bool // the same, announced in the form before the protocol had it
}

// initialize initializes the connection. A client of another protocol version receives the server's and decides
// whether to continue.
func (s *server) initialize(params json.RawMessage) (any, error) {
	p, err := decodeParams[initializeParams](methodInitialize, params)
	if err != nil {
		return nil, err
	}
	if s.client.initialized {
		return nil, refusal(codeInvalidRequest, "invalidRequest", "The connection is already initialized.")
	}
	s.client = clientInfoOf(p.Capabilities)
	s.log.Info("initialize", zap.Int("protocol", p.ProtocolVersion), zap.ByteString("client", p.Client))
	own := s.opts.Engine == "" || s.opts.Engine == engine.Own // other programs have transports of their own
	return initializeResult{
		ProtocolVersion: ProtocolVersion,
		Capabilities: agentCapabilities{
			LoadSession: true,
			Prompt:      promptCapabilities{Image: true, EmbeddedContext: true},
			MCP:         mcpCapabilities{HTTP: own, SSE: own},
		},
		Agent:       implementation{Name: "xcsh-ls", Title: "xcsh", Version: s.opts.Version},
		AuthMethods: s.authMethods(),
	}, nil
}

// clientInfoOf decodes the capabilities of a client. A capability of the wrong type counts as missing,
// so that one mistake does not make a client unusable.
func clientInfoOf(raw json.RawMessage) clientInfo {
	return clientInfo{
		initialized: true,
		readFile:    isTrue(raw, "fs", "readTextFile"),
		writeFile:   isTrue(raw, "fs", "writeTextFile"),
		notices:     isThere(raw, "session", "notices"),
		compaction:  isThere(raw, "session", "compaction"),
		forms:       isThere(raw, "elicitation", "form"),
		terminal:    isTrue(raw, "auth", "terminal"),
		oldTerminal: isTrue(raw, "_meta", "terminal-auth"),
	}
}

// isTrue reports whether the member at path is true.
func isTrue(raw json.RawMessage, path ...string) bool {
	return string(rawjson.Get(raw, path...)) == "true"
}

// isThere reports whether there is an object at path, which is how the protocol enables a capability
// that may have options later.
func isThere(raw json.RawMessage, path ...string) bool {
	return rawjson.Kind(rawjson.Get(raw, path...)) == '{'
}
