package acp

import (
	"encoding/json"

	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/session/rawjson"
)

// clientInfo is what the client said it can do.
type clientInfo struct {
	initialized bool
	readFile    bool // the files as the person sees them
	writeFile   bool
	notices     bool // sentences for the person beside the conversation
	compaction  bool // that the conversation was shortened
}

// initialize begins the conversation. A client of another version of the protocol is told ours,
// and decides.
func (s *server) initialize(params json.RawMessage) (any, error) {
	p, err := decodeParams[initializeParams](methodInitialize, params)
	if err != nil {
		return nil, err
	}
	if s.client.initialized {
		return nil, refusal(codeInvalidRequest, "invalidRequest", "The connection is initialized already.")
	}
	s.client = clientInfoOf(p.Capabilities)
	s.log.Info("initialize", zap.Int("protocol", p.ProtocolVersion), zap.ByteString("client", p.Client))
	return initializeResult{
		ProtocolVersion: ProtocolVersion,
		Capabilities: agentCapabilities{
			LoadSession: true,
			Prompt:      promptCapabilities{Image: true, EmbeddedContext: true},
		},
		Agent:       implementation{Name: "xcsh-ls", Title: "xcsh", Version: s.opts.Version},
		AuthMethods: []struct{}{},
	}, nil
}

// clientInfoOf reads the capabilities of a client. One that does not have the type it should
// counts as not there: a client with one mistake is better than none.
func clientInfoOf(raw json.RawMessage) clientInfo {
	return clientInfo{
		initialized: true,
		readFile:    isTrue(raw, "fs", "readTextFile"),
		writeFile:   isTrue(raw, "fs", "writeTextFile"),
		notices:     isThere(raw, "session", "notices"),
		compaction:  isThere(raw, "session", "compaction"),
	}
}

// isTrue reports whether the member at path is true.
func isTrue(raw json.RawMessage, path ...string) bool {
	return string(rawjson.Get(raw, path...)) == "true"
}

// isThere reports whether there is an object at path, which is how the protocol says yes where
// it may want to say more one day.
func isThere(raw json.RawMessage, path ...string) bool {
	return rawjson.Kind(rawjson.Get(raw, path...)) == '{'
}
