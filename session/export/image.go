package export

import (
	"encoding/base64"
)

// imageNote says what an image block holds: its type and size, or why it is no image.
func imageNote(b object) string {
	data := b.str("data")
	if data == "" {
		return "image without data"
	}
	mime := or(preview(b.str("mimeType"), 40), "unknown")
	raw, err := base64.StdEncoding.DecodeString(data)
	if err != nil { // a reference to a stored blob, usually
		return "image of type " + mime + ", which is kept outside the session"
	}
	return "image of type " + mime + ", " + byteSize(float64(len(raw)))
}
