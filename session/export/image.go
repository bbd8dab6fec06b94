package export

import (
	"encoding/base64"
	"html/template"
	"strings"
)

// isRaster tells by its first bytes whether data is of one of the types that a page
// shows. SVG is absent because it is a document.
var isRaster = map[string]func(data string) bool{
	"image/png":  func(data string) bool { return strings.HasPrefix(data, "\x89PNG") },
	"image/jpeg": func(data string) bool { return strings.HasPrefix(data, "\xFF\xD8") },
	"image/gif":  func(data string) bool { return strings.HasPrefix(data, "GIF8") },
	"image/webp": func(data string) bool { return strings.HasPrefix(data, "RIFF") && strings.HasPrefix(data[8:], "WEBP") },
}

// picture is an image block. Source is "" when it cannot be shown; then Note says why.
type picture struct {
	Source template.URL
	Note   string
}

// imageOf returns the image of block b, which has data and mimeType. Its source is a
// safe URL: the type is one of [isRaster] and the rest is base64.
func imageOf(b object) picture {
	mime, data := b.str("mimeType"), b.str("data")
	is, known := isRaster[mime]
	if data == "" {
		return picture{Note: "image without data"}
	}
	if !known {
		return picture{Note: "image of type " + or(preview(mime, 40), "unknown") + " is not shown"}
	}
	raw, ok := decode(data)
	switch {
	case !ok: // a reference to a stored blob, usually
		return picture{Note: mime + " image is not part of this page"}
	case len(raw) < 12 || !is(raw[:12]):
		return picture{Note: mime + " image is damaged"}
	}
	return picture{Source: template.URL("data:" + mime + ";base64," + data)} //nolint:gosec // G203: a listed type and base64
}

// decode reads padded standard base64 without line breaks.
func decode(s string) (raw string, ok bool) {
	if strings.ContainsAny(s, "\r\n") { // the decoder would skip them
		return "", false
	}
	b, err := base64.StdEncoding.Strict().DecodeString(s)
	return string(b), err == nil
}
