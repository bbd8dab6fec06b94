package guard

import (
	"encoding/json"
	"html"
	"regexp"
	"strconv"
	"strings"
)

// Problem is an error in a service's own words.
type Problem struct {
	Status    int // the service's idea of an HTTP status, 0 for none
	Type      string
	Code      string
	Message   string
	Param     string // the part of the request that the problem is about
	RequestID string

	details details
}

func (p *Problem) Error() string { return p.Message }

// ParseError reads the error object of a service: {type, code, message}, or a text.
// Numbers in place of texts are understood.
func ParseError(data []byte) *Problem {
	p := &Problem{}
	var text string
	var o struct {
		Type     json.RawMessage `json:"type"`
		Code     json.RawMessage `json:"code"`
		Status   json.RawMessage `json:"status"`
		Param    json.RawMessage `json:"param"`
		Message  json.RawMessage `json:"message"`
		Details  json.RawMessage `json:"details"`
		Metadata struct {
			Raw json.RawMessage `json:"raw"`
		} `json:"metadata"`
	}
	if json.Unmarshal(data, &text) == nil {
		p.Message = words([]byte(text))
		return p
	}
	if json.Unmarshal(data, &o) != nil {
		p.Message = words(data)
		return p
	}
	p.Type, p.Code, p.Message = scalar(o.Type), scalar(o.Code), words([]byte(scalar(o.Message)))
	p.Param = scalar(o.Param)
	p.details = parseDetails(o.Details)
	if p.Type == "" {
		p.Type = scalar(o.Status) // Google's word for it
	}
	if n, err := strconv.Atoi(p.Code); err == nil {
		p.Code = ""
		if n >= 100 && n < 600 {
			p.Status = n
		}
	}
	if inner := scalar(o.Metadata.Raw); inner != "" && !strings.Contains(p.Message, inner) {
		p.Message = strings.TrimSpace(p.Message + ": " + words([]byte(inner))) // the message of the service behind OpenRouter
	}
	return p
}

// parseProblem reads the body of an error answer. known is false when it is not JSON of a
// form that errors have; the message then is made of the first words of the page.
func parseProblem(page []byte) (p *Problem, known bool) {
	var list []json.RawMessage
	if json.Unmarshal(page, &list) == nil && len(list) > 0 {
		page = list[0] // Google sends a list of one
	}
	var o struct {
		Error     json.RawMessage `json:"error"`
		Detail    json.RawMessage `json:"detail"`
		Message   json.RawMessage `json:"message"`
		RequestID string          `json:"request_id"`
	}
	if json.Unmarshal(page, &o) != nil {
		return &Problem{Message: words(page)}, false
	}
	switch {
	case len(o.Error) > 0 && string(o.Error) != "null":
		p = ParseError(o.Error)
	case len(o.Detail) > 0:
		p = &Problem{Message: words([]byte(scalar(o.Detail)))}
	case len(o.Message) > 0:
		p = ParseError(page)
	default:
		return &Problem{Message: words(page)}, false
	}
	p.RequestID = o.RequestID
	return p, true
}

// scalar is the text of a JSON value that should be one.
func scalar(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}

var (
	notText = regexp.MustCompile(`(?is)<(script|style)\b.*?</(script|style)\s*>|<!--.*?-->|<[^>]*>`)
	spaces  = regexp.MustCompile(`\s+`)
)

// words are the first words of a page, without its markup.
func words(page []byte) string {
	const most = 400
	s := strings.ToValidUTF8(string(page), "")
	if strings.Contains(s, "</") {
		s = html.UnescapeString(notText.ReplaceAllString(s, " "))
	}
	s = strings.TrimSpace(spaces.ReplaceAllString(s, " "))
	if r := []rune(s); len(r) > most {
		s = strings.TrimSpace(string(r[:most])) + "…"
	}
	return s
}
