package mcp

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"mime"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/xcsh-ls/xcsh-ls/agent/imaging"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/session"
)

const (
	maxBlocks  = 100
	maxImages  = 10
	maxNote    = 1 << 10  // bytes of a note about a text that was cut
	maxDetails = 64 << 10 // bytes
)

// result makes the result of a call one for the model.
func (s *server) result(env tool.Env, remote, name string, r *sdk.CallToolResult) tool.Result {
	w := &writer{server: s, env: env, tool: name, room: tool.MaxBytes}
	for _, c := range r.Content {
		w.content(c)
	}
	if len(r.Content) == 0 && r.StructuredContent != nil {
		w.text(structured(r.StructuredContent))
	}
	out := tool.Result{Content: w.blocks, IsError: r.IsError}
	if len(out.Content) == 0 {
		out.Content = []provider.Block{provider.Text("(no output)")}
	}
	if r.IsError && s.host.options.Dialect != session.Pi {
		out.Content = marked(out.Content)
	}
	out.Details = s.details(remote, r, w.path)
	return out
}

// marked returns the content of an error as omp and xcsh show it.
func marked(content []provider.Block) []provider.Block {
	if content[0].Type != provider.TypeText {
		return append([]provider.Block{provider.Text("Error: ")}, content...)
	}
	content[0].Text = "Error: " + content[0].Text
	return content
}

func structured(v any) string {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if enc.Encode(v) != nil {
		return ""
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// writer collects the blocks of a result within the limits of one.
type writer struct {
	server *server
	env    tool.Env
	tool   string
	blocks []provider.Block
	path   string // of a file with a whole text, "" if there is none
	room   int    // bytes of text that are left
	images int
}

// content adds a block of a server.
func (w *writer) content(c sdk.Content) {
	if len(w.blocks) >= maxBlocks {
		return
	}
	switch c := c.(type) {
	case *sdk.TextContent:
		w.text(c.Text)
	case *sdk.ImageContent:
		w.image(c.Data, c.MIMEType)
	case *sdk.AudioContent:
		w.text(fmt.Sprintf("[audio %s omitted]", c.MIMEType))
	case *sdk.ResourceLink:
		w.text(w.link(c))
	case *sdk.EmbeddedResource:
		w.resource(c.Resource)
	}
}

// text adds a text. The whole of a long one is kept beside the session.
func (w *writer) text(s string) {
	s = w.server.secrets.result(s)
	if s == "" {
		return
	}
	kept := tool.KeepText(w.env, w.tool, s)
	shown := kept.Shown
	if kept.Path != "" && w.path == "" {
		w.path = kept.Path
	}
	if len(shown) > w.room+maxNote {
		shown = strings.ToValidUTF8(shown[:w.room], "") + "\n\n[The rest of the result is too long and was left out.]"
	}
	w.room = max(0, w.room-len(shown))
	w.blocks = append(w.blocks, provider.Text(shown))
}

// image adds an image. Its type is what its bytes are.
func (w *writer) image(data []byte, declared string) {
	kind := imaging.TypeOf(data)
	if w.images++; kind == "" || w.images > maxImages {
		w.text(fmt.Sprintf("[image %s omitted]", declared))
		return
	}
	w.blocks = append(w.blocks, imaging.Fit(provider.Block{
		Type: provider.TypeImage, Data: base64.StdEncoding.EncodeToString(data), MimeType: kind,
	}))
}

// link describes a resource that the model can read.
func (w *writer) link(l *sdk.ResourceLink) string {
	size := ""
	if l.Size != nil && *l.Size >= 0 {
		size = tool.SizeText(*l.Size)
	}
	about := ""
	if l.Description != "" {
		about = ": " + l.Description
	}
	return fmt.Sprintf("[Resource %s %q%s%s. Read it with read_mcp_resource (server %q)]",
		l.URI, l.Name, kindAndSize(l.MIMEType, size), about, w.server.def.Name)
}

func kindAndSize(kind, size string) string {
	switch {
	case kind != "" && size != "":
		return " (" + kind + ", " + size + ")"
	case kind+size != "":
		return " (" + kind + size + ")"
	default:
		return ""
	}
}

// resource adds the content of a resource. A binary one is kept in a file beside the session.
func (w *writer) resource(r *sdk.ResourceContents) {
	if r == nil {
		return
	}
	if r.Blob == nil {
		w.text(r.Text)
		return
	}
	if kind, _, _ := mime.ParseMediaType(r.MIMEType); strings.HasPrefix(kind, "image/") && imaging.TypeOf(r.Blob) != "" {
		w.image(r.Blob, r.MIMEType)
		return
	}
	where := "omitted"
	if path := tool.KeepBytes(w.env, w.tool, r.Blob); path != "" {
		where = "saved to " + path
	}
	w.text(fmt.Sprintf("[Binary resource %s%s %s]", r.URI, kindAndSize(r.MIMEType, tool.SizeText(int64(len(r.Blob)))), where))
}

// piDetails are the details of a result as pi records them.
type piDetails struct {
	Server         string `json:"server"`
	Tool           string `json:"tool"`
	FullOutputPath string `json:"fullOutputPath,omitzero"`
}

// ompDetails are the details of a result as omp and xcsh record them.
type ompDetails struct {
	ServerName        string          `json:"serverName"`
	Tool              string          `json:"mcpToolName"`
	RawContent        json.RawMessage `json:"rawContent"`
	Provider          string          `json:"provider"`
	ProviderName      string          `json:"providerName"`
	StructuredContent any             `json:"structuredContent,omitzero"`
	IsError           bool            `json:"isError,omitzero"`
}

// details returns the details of a result in the form of the dialect's program.
//
// Differs: a content that is too large is left out of the details, because the session has it already.
func (s *server) details(remote string, r *sdk.CallToolResult, path string) json.RawMessage {
	if s.host.options.Dialect == session.Pi {
		return encoded(piDetails{s.def.Name, remote, path})
	}
	d := ompDetails{
		ServerName: s.def.Name, Tool: remote, RawContent: json.RawMessage("[]"), Provider: "native", ProviderName: "OMP",
		StructuredContent: r.StructuredContent, IsError: r.IsError,
	}
	if s.def.Provider != "" {
		d.Provider, d.ProviderName = s.def.Provider, s.def.ProviderName
	}
	if raw := encoded(r.Content); len(raw) <= maxDetails && len(r.Content) > 0 {
		d.RawContent = raw
	}
	all := encoded(d)
	if all == nil || len(all) > 2*maxDetails {
		d.RawContent, d.StructuredContent = json.RawMessage("[]"), nil
		all = encoded(d)
	}
	return json.RawMessage(replaceAll(string(all), s.secrets.inResults()))
}

func encoded(v any) json.RawMessage {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if enc.Encode(v) != nil {
		return nil
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n"))
}
