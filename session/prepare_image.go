package session

import (
	"bytes"
	"encoding/base64"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
)

// minBlobChars is the length in UTF-16 units from which the base64 of a message's image is
// kept outside the session file.
const minBlobChars = 1024

// blobSink takes the bytes of content-addressed images.
type blobSink interface {
	// PutBlob makes data readable under its SHA-256, which it returns as 64 lower-case hex
	// digits. It does not retain data.
	PutBlob(data []byte) (hash string, err error)
}

// images moves the object's image to a blob, and treats a value that is not an image as
// text.
//
// Differs: the programs move images only out of lists called content and cut the rest like
// text, which destroys them. Here no image is ever cut: wherever it is (a mentioned file, a
// tool's details, a command's images, a generated image), it is moved too if it is as long
// as the longest text that may stay.
func (p *preparer) images(m members, at place) {
	if !m.data.some() && !m.result.some() {
		return
	}
	typ, _ := rawjson.String(p.line[m.typ.from:m.typ.to])
	mime, _ := rawjson.String(p.line[m.mime.from:m.mime.to])
	switch {
	case !m.data.some():
	case typ == "image" && at.key == roleContent && at.list:
		p.image(m.data, p.lim.image, at.depth)
	case typ == "image" || strings.HasPrefix(mime, "image/"):
		p.image(m.data, p.lim.text, at.depth)
	default:
		p.text(m.data, place{key: roleData})
	}
	switch {
	case !m.result.some():
	case typ == "image_generation_call":
		p.image(m.result, p.lim.text, at.depth)
	default:
		p.text(m.result, place{key: roleResult})
	}
}

// image moves the base64 string s to a blob if it is at least from units long. A string
// that is not base64, such as a reference to a blob, is not changed.
func (p *preparer) image(s extent, from, depth int) {
	if p.blobs == nil || depth > maxBlobDepth || !longer(inside(p.line[s.from:s.to]), from-1) {
		return
	}
	if data, ok := decodeImage(p.line[s.from:s.to]); ok {
		p.store(s, data)
	}
}

// imageURL reports whether the string s is the data: URL of an image, and moves it to a
// blob that holds the URL's text. A URL in a list stays inline: references are resolved
// only directly under the key.
func (p *preparer) imageURL(s extent, at place) bool {
	url := inside(p.line[s.from:s.to])
	if bytes.IndexByte(url, '\\') >= 0 {
		decoded, _ := rawjson.String(p.line[s.from:s.to])
		url = []byte(decoded)
	}
	if !bytes.HasPrefix(url, []byte("data:image/")) || !bytes.Contains(url, []byte(";base64,")) {
		return false
	}
	// U+FFFD stands for text without a UTF-8 form, which could not be restored.
	if p.blobs != nil && !at.list && at.depth <= maxBlobDepth && !bytes.ContainsRune(url, '\uFFFD') {
		p.store(s, url)
	}
	return true
}

// store stores data as a blob and replaces s with a reference.
func (p *preparer) store(s extent, data []byte) {
	hash, err := p.blobs.PutBlob(data)
	if err != nil {
		if p.err == nil {
			p.err = err
		}
		return
	}
	p.replace(s.from+1, s.to-1, []byte(BlobPrefix+hash))
}

// decodeImage decodes the base64 of a JSON string as leniently as the programs do:
// either alphabet, white space, padding or none.
func decodeImage(v []byte) (data []byte, ok bool) {
	body := inside(v)
	data = make([]byte, base64.StdEncoding.DecodedLen(len(body)))
	if n, err := base64.StdEncoding.Decode(data, body); err == nil {
		return data[:n], n > 0
	}
	text, _ := rawjson.String(v)
	text = strings.TrimRight(strings.Map(func(r rune) rune {
		switch r {
		case ' ', '\t', '\n', '\v', '\f', '\r':
			return -1
		case '-':
			return '+'
		case '_':
			return '/'
		}
		return r
	}, text), "=")
	data, err := base64.RawStdEncoding.DecodeString(text)
	return data, err == nil && len(data) > 0
}
