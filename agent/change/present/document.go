package present

import (
	"bytes"
	"unicode/utf8"

	"github.com/xcsh-ls/xcsh-ls/agent/change"
	"github.com/xcsh-ls/xcsh-ls/agent/change/plan"
)

var mark = []byte("\ufeff")

// withDocument replaces the state of a file by that of its open document. A document without unsaved changes is the file: an editor
// decodes it, drops the byte order mark and may show other line ends, but would write the same bytes. If the file differs from the
// document, the editor has not reloaded it yet, and the state on disk is used.
//
// The text of a file in another encoding is compared as UTF-8, because only the editor can encode it.
func (p *Presenter) withDocument(abs string, now *plan.Now) {
	if now.State.Kind == change.Link || now.State.Kind == change.Special {
		return
	}
	d, open := p.o.Documents.Document(abs)
	if !open {
		return
	}
	text := []byte(d.Text)
	onDisk := now.State.Kind == change.Regular
	decoded := bytes.TrimPrefix(now.Content, mark)
	foreign := onDisk && !utf8.Valid(decoded)
	switch {
	case onDisk && !foreign && shows(decoded, text, d.Dirty):
	case !d.Dirty && !foreign:
		return
	default:
		if onDisk && bytes.HasPrefix(now.Content, mark) {
			text = append(bytes.Clone(mark), text...)
		}
		if now.State.Kind != change.Regular {
			now.State.Mode = 0
		}
		now.Content = text
		now.State = change.State{Kind: change.Regular, SHA256: change.Sum(text), Mode: now.State.Mode, Size: int64(len(text))}
	}
	now.Document, now.Text, now.Version, now.Dirty = true, d.Text, d.Version, d.Dirty
}

// shows reports whether the text of a document is the decoded content of a file.
func shows(decoded, text []byte, dirty bool) bool {
	if bytes.Equal(decoded, text) {
		return true
	}
	return !dirty && bytes.Equal(plainEnds(decoded), plainEnds(text))
}

func plainEnds(b []byte) []byte {
	b = bytes.ReplaceAll(b, []byte("\r\n"), []byte("\n"))
	return bytes.ReplaceAll(b, []byte("\r"), []byte("\n"))
}

// DocumentText returns the text that an editor has for a content in UTF-8.
func DocumentText(content []byte) string { return string(bytes.TrimPrefix(content, mark)) }
