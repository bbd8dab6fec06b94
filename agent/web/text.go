package web

import (
	"bytes"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html/charset"
)

// The methods of [Page.Text], as the details of a result name them.
const (
	HTML  = "html"
	Plain = "text"
)

// Text returns the text of a page, and the way in which it was made. ok is false for something other than text.
func (p Page) Text() (text, method string, ok bool) {
	kind, _, err := mime.ParseMediaType(p.ContentType)
	if err != nil || kind == "" || kind == "application/octet-stream" {
		kind, _, _ = strings.Cut(http.DetectContentType(p.Body), ";")
	}
	switch {
	case kind == "text/html" || kind == "application/xhtml+xml":
		return p.htmlText(), HTML, true
	case isText(kind):
		return lines(p.decoded()), Plain, true
	}
	return "", "", false
}

// isText reports whether a media type is text.
func isText(kind string) bool {
	if strings.HasPrefix(kind, "text/") || strings.HasSuffix(kind, "+json") || strings.HasSuffix(kind, "+xml") || strings.HasSuffix(kind, "+yaml") {
		return true
	}
	switch kind {
	case "application/json", "application/xml", "application/javascript", "application/x-javascript", "application/ecmascript", "application/yaml", "application/x-yaml",
		"application/toml", "application/x-sh", "application/sql", "application/x-ndjson", "application/jsonl", "application/graphql", "application/typescript":
		return true
	}
	return false
}

func (p Page) htmlText() string {
	base, err := url.Parse(p.FinalURL)
	if err != nil {
		base = &url.URL{}
	}
	return lines(text(p.decoded(), base))
}

// decoded returns the body in UTF-8.
func (p Page) decoded() []byte {
	encoding, name, _ := charset.DetermineEncoding(p.Body, p.ContentType)
	if name == "utf-8" || utf8.Valid(p.Body) && !strings.HasPrefix(name, "utf-16") && !strings.HasPrefix(name, "iso-2022") {
		return bytes.TrimPrefix(p.Body, []byte("\ufeff"))
	}
	out, err := encoding.NewDecoder().Bytes(p.Body)
	if err != nil {
		return p.Body
	}
	return out
}

// lines breaks lines that are too long to be shown.
func lines[T string | []byte](s T) string {
	const most = 2000
	var b strings.Builder
	for line := range strings.Lines(string(s)) {
		for len(line) > most {
			end := most
			if at := strings.LastIndexByte(line[:most], ' '); at > 0 {
				end = at + 1
			}
			for end > 0 && !utf8.RuneStart(line[end]) {
				end--
			}
			if end == 0 {
				end = most // no text
			}
			b.WriteString(line[:end] + "\n")
			line = line[end:]
		}
		b.WriteString(line)
	}
	return b.String()
}
