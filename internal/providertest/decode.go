package providertest

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
)

// asRefusal converts an error to a refusal. Any other error comes from decoding.
func asRefusal(err error) *refusal {
	if no, ok := errors.AsType[*refusal](err); ok {
		return no
	}
	return invalid("the body could not be understood: %v", err)
}

// invalid refuses a request that is not as it should be.
func invalid(format string, args ...any) *refusal {
	return &refusal{http.StatusBadRequest, "invalid_request_error", "", fmt.Sprintf(format, args...)}
}

var (
	toolName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)
	toolID   = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)
)

// content is a string or a list of parts.
type content []part

// part is a part of a message in any of the formats.
type part struct {
	Type string `json:"type"`

	Text         string          `json:"text"`
	Thinking     string          `json:"thinking"`
	Signature    string          `json:"signature"`
	Data         string          `json:"data"`
	ID           string          `json:"id"`
	Name         string          `json:"name"`
	Input        json.RawMessage `json:"input"`
	ToolUseID    string          `json:"tool_use_id"`
	Content      content         `json:"content"`
	IsError      bool            `json:"is_error"`
	Source       *source         `json:"source"`
	CacheControl json.RawMessage `json:"cache_control"`
	ImageURL     json.RawMessage `json:"image_url"` // {url} of Chat Completions, a string of Responses
}

type source struct {
	Type      string `json:"type"`
	MediaType string `json:"media_type"`
	Data      string `json:"data"`
}

// UnmarshalJSON reads both forms.
func (c *content) UnmarshalJSON(data []byte) error {
	var s string
	if json.Unmarshal(data, &s) == nil {
		if string(data) != "null" {
			*c = content{{Type: "text", Text: s}}
		}
		return nil
	}
	return json.Unmarshal(data, (*[]part)(c))
}

// image reads a data URL.
func image(url string) (provider.Block, error) {
	mime, data, ok := strings.Cut(strings.TrimPrefix(url, "data:"), ";base64,")
	if !ok || mime == "" || data == "" {
		return provider.Block{}, invalid("invalid image URL")
	}
	return provider.Block{Type: provider.TypeImage, MimeType: mime, Data: data}, nil
}

// result is a tool's result.
func result(id string, blocks []provider.Block, failed bool) provider.Message {
	return provider.Message{Role: provider.RoleToolResult, ToolCallID: id, Content: blocks, IsError: &failed}
}

// sign is the signature with which the server signs thinking, so that it can check whether it comes
// back unchanged.
func sign(thinking string) string {
	sum := sha256.Sum256([]byte("providertest:" + thinking))
	return base64.StdEncoding.EncodeToString(sum[:])
}

// half cuts s in two where no character is hurt; every byte of a signature is one.
func half(s string) (string, string) { return s[:len(s)/2], s[len(s)/2:] }

// middle is the index of the middle one of n pieces.
func middle(n int) int { return (n - 1) / 2 }
