package export

import (
	"encoding/base64"
)

// imageNote describes an image block: its type and size, or why it is not an image.
func imageNote(b object) string {
	data := b.str("data")
	if data == "" {
		return "image without data"
	}
	mime := or(preview(b.str("mimeType"), 40), "unknown")
	raw, err := base64.StdEncoding.DecodeString(data)
	if err != nil { // a reference to a stored blob, usually
		return mime + " image, stored outside the session"
	}
	return mime + " image, " + byteSize(float64(len(raw)))
}
