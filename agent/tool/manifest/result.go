package manifest

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/xcsh-ls/xcsh-ls/agent/imaging"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/agent/tool/schema"
)

const (
	maxOutput   = 16 << 20 // bytes
	maxImages   = 4
	maxBlocks   = 100
	maxDetails  = 64 << 10 // bytes
	maxProgress = 2000     // bytes of one line that is shown
)

var lenient = jsonv2.JoinOptions(jsonv2.RejectUnknownMembers(true), jsontext.AllowInvalidUTF8(true))

// progress returns the text of a line {"progress": "..."}.
func progress(line []byte) (text string, ok bool) {
	var p struct {
		Progress *string `json:"progress"`
	}
	if !bytes.Contains(line, []byte(`"progress"`)) || jsonv2.Unmarshal(line, &p, lenient) != nil || p.Progress == nil {
		return "", false
	}
	text = tool.Printable(*p.Progress)
	if len(text) > maxProgress {
		text = strings.ToValidUTF8(text[:maxProgress], "") + "…"
	}
	return text, true
}

// parseResult reads the result of a call:
//
//	{"content": "text", "isError": false, "details": {}}
//
// content can also be a list of {"type": "text", "text": "..."} and {"type": "image", "data": "...",
// "mimeType": "image/png"}. The other members are optional. The error completes a sentence about the
// tool.
func parseResult(raw []byte) (tool.Result, error) {
	var wire struct {
		Content jsontext.Value `json:"content"`
		IsError bool           `json:"isError"`
		Details jsontext.Value `json:"details"`
	}
	if len(bytes.TrimSpace(raw)) == 0 {
		return tool.Result{}, errors.New("returned no result")
	}
	if err := jsonv2.Unmarshal(raw, &wire, lenient); err != nil {
		return tool.Result{}, errors.New(`did not return {"content": "..."}`)
	}
	r := tool.Result{IsError: wire.IsError}
	var err error
	if r.Content, err = parseContent(wire.Content); err != nil {
		return tool.Result{}, err
	}
	if len(wire.Details) == 0 || wire.Details.Kind() == 'n' {
		return r, nil
	}
	var value any
	details := bytes.ToValidUTF8(wire.Details, []byte("\uFFFD"))
	if len(details) > maxDetails || json.Unmarshal(details, &value) != nil || !schema.Shallow(value, schema.MaxDepth) {
		return tool.Result{}, errors.New("returned details that are too large")
	}
	var line bytes.Buffer
	if json.Compact(&line, details) != nil {
		return tool.Result{}, errors.New("returned details that are not JSON")
	}
	r.Details = line.Bytes()
	return r, nil
}

func parseContent(raw jsontext.Value) ([]provider.Block, error) {
	var blocks []struct {
		Type     string `json:"type"`
		Text     string `json:"text"`
		Data     string `json:"data"`
		MimeType string `json:"mimeType"`
	}
	switch raw.Kind() {
	case '"':
		var text string
		if err := jsonv2.Unmarshal(raw, &text, lenient); err != nil {
			return nil, errors.New("returned a content that is not text")
		}
		return texts([]provider.Block{provider.Text(text)}), nil
	case '[':
		if err := jsonv2.Unmarshal(raw, &blocks, lenient); err != nil {
			return nil, errors.New("returned a content that is not a list of texts and images")
		}
	default:
		return nil, errors.New(`did not return {"content": "..."}`)
	}
	if len(blocks) > maxBlocks {
		return nil, fmt.Errorf("returned more than %d texts and images", maxBlocks)
	}
	var content []provider.Block
	images := 0
	for _, b := range blocks {
		switch {
		case b.Type == "text" && b.Data == "" && b.MimeType == "":
			content = append(content, provider.Text(b.Text))
		case b.Type == "image" && b.Text == "":
			if images++; images > maxImages {
				return nil, fmt.Errorf("returned more than %d images", maxImages)
			}
			image, err := parseImage(b.Data)
			if err != nil {
				return nil, err
			}
			content = append(content, image)
		default:
			return nil, fmt.Errorf("returned a content of the type %.20q; it can have text and image", b.Type)
		}
	}
	return texts(content), nil
}

// parseImage makes an image fit. Its type is what its bytes are.
func parseImage(data string) (provider.Block, error) {
	content, err := base64.StdEncoding.DecodeString(data)
	if err != nil {
		return provider.Block{}, errors.New("returned an image whose data is not base64")
	}
	mime := imaging.TypeOf(content)
	if mime == "" {
		return provider.Block{}, errors.New("returned an image that is not PNG, JPEG, GIF or WebP")
	}
	return imaging.Fit(provider.Block{Type: provider.TypeImage, Data: data, MimeType: mime}), nil
}

// texts makes the texts of a result readable, and cuts them to the size of a result.
func texts(content []provider.Block) []provider.Block {
	room := tool.MaxBytes
	var out []provider.Block
	for _, b := range content {
		if b.Type != provider.TypeText {
			out = append(out, b)
			continue
		}
		shown, note := tool.Head(tool.Printable(b.Text))
		if len(shown) > room {
			shown, note = strings.ToValidUTF8(shown[:room], ""), "[The rest of the result is too long and was left out.]"
		}
		room -= len(shown)
		if note != "" {
			shown += "\n\n" + note
		}
		if shown != "" {
			out = append(out, provider.Text(shown))
		}
	}
	if len(out) == 0 {
		out = append(out, provider.Text("(no output)"))
	}
	return out
}
