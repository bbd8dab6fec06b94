package providertest

import (
	"encoding/json"
	"net/http"
	"slices"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
)

// Request is a request as the service understood it. In every format, its messages are converted to
// those of the provider package: tool results are messages of their own, reasoning is a thinking
// block with the returned reasoning data as its signature.
type Request struct {
	API       provider.API
	Model     string
	System    string
	Messages  []provider.Message
	Tools     []provider.Tool
	MaxTokens int

	Header http.Header     // credentials are replaced by "(hidden)"
	Body   json.RawMessage // as received

	strict bool // it has a tool whose schema has to be enforced

	// Ended is closed when the service is done with the request, because the answer is
	// complete or because the client left. nil for [Scripted].
	Ended <-chan struct{}
}

// LastText is the text of the last message that is not a tool's result.
func (r Request) LastText() string {
	for _, m := range slices.Backward(r.Messages) {
		if m.Role != provider.RoleToolResult {
			return m.PlainText()
		}
	}
	return ""
}

// Results are the texts of the tool results, by the id of their call.
func (r Request) Results() map[string]string {
	results := map[string]string{}
	for _, m := range r.Messages {
		if m.Role == provider.RoleToolResult {
			results[m.ToolCallID] = m.PlainText()
		}
	}
	return results
}
