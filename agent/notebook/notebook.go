// Package notebook turns Jupyter notebooks into text for a model. It has no I/O. Notebooks are hostile: every
// part of the result has a limit.
package notebook

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	jsonv2 "github.com/go-json-experiment/json"
)

const (
	// maxOutput is how much text of the outputs of one cell is kept, in bytes. The source is always complete.
	maxOutput = 4 << 10

	// maxOutputs is how many outputs of one cell are considered.
	maxOutputs = 100
)

// errNoNotebook is the error for JSON that is not a notebook.
var errNoNotebook = errors.New("notebook: not a Jupyter notebook")

// document is a notebook of format 4, or 3, whose cells are in worksheets.
type document struct {
	NBFormat   int    `json:"nbformat"`
	Cells      []cell `json:"cells"`
	Worksheets []struct {
		Cells []cell `json:"cells"`
	} `json:"worksheets"`
}

type cell struct {
	Type    string   `json:"cell_type"`
	Source  text     `json:"source"`
	Input   text     `json:"input"` // format 3
	Outputs []output `json:"outputs"`
}

type output struct {
	Type      string                    `json:"output_type"`
	Text      text                      `json:"text"`
	Data      map[string]jsontext.Value `json:"data"`
	Name      text                      `json:"ename"`
	Value     text                      `json:"evalue"`
	Traceback text                      `json:"traceback"`
	PNG       jsontext.Value            `json:"png"` // format 3
	JPEG      jsontext.Value            `json:"jpeg"`
}

// text is a string or a list of strings. Everything else is no text.
type text string

// UnmarshalJSON implements the interface of package json.
func (t *text) UnmarshalJSON(b []byte) error {
	var s string
	var list []string
	switch {
	case jsonv2.Unmarshal(b, &s, jsontext.AllowInvalidUTF8(true)) == nil:
		*t = text(s)
	case jsonv2.Unmarshal(b, &list, jsontext.AllowInvalidUTF8(true)) == nil:
		*t = text(strings.Join(list, ""))
	}
	return nil
}

// Cells returns the cells of a notebook as text, each with its number, its type, its source and the text of its
// outputs. It returns an error if content is not a notebook.
func Cells(content []byte) (cells []string, err error) {
	var d document
	err = jsonv2.Unmarshal(content, &d, jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
	if err != nil {
		return nil, err
	}
	for _, w := range d.Worksheets {
		d.Cells = append(d.Cells, w.Cells...)
	}
	if d.NBFormat == 0 {
		return nil, errNoNotebook
	}
	for i, c := range d.Cells {
		cells = append(cells, c.text(i+1))
	}
	return cells, nil
}

func (c cell) text(number int) string {
	var b strings.Builder
	kind := c.Type
	if kind == "" {
		kind = "unknown"
	}
	fmt.Fprintf(&b, "[Cell %d, %s]\n", number, oneWord(kind))
	b.WriteString(strings.TrimRight(string(c.Source+c.Input), "\n"))
	b.WriteByte('\n')
	if out := c.output(); out != "" {
		b.WriteString("[Output]\n" + out + "\n")
	}
	return b.String()
}

// oneWord makes a hostile type harmless.
func oneWord(s string) string { return strings.Trim(strconv.Quote(cut(s, 40)), `"`) }

func (c cell) output() string {
	var parts []string
	for _, o := range c.Outputs[:min(len(c.Outputs), maxOutputs)] {
		parts = append(parts, o.parts()...)
	}
	if more := len(c.Outputs) - maxOutputs; more > 0 {
		parts = append(parts, fmt.Sprintf("[%d more outputs omitted]", more))
	}
	all := strings.TrimRight(strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), "\n"), "\n")
	if len(all) <= maxOutput {
		return all
	}
	return cut(all, maxOutput) + fmt.Sprintf("\n[%d more bytes of output omitted]", len(all)-maxOutput)
}

// escapes are the colours of a traceback.
var escapes = regexp.MustCompile(`\x1b\[[0-9;]*m`)

// parts is the text of an output, and notes on what is not text.
func (o output) parts() (parts []string) {
	trim := func(t text) string { return strings.TrimRight(escapes.ReplaceAllString(string(t), ""), "\n") }
	parts = append(parts, trim(o.Text))
	switch {
	case o.Traceback != "":
		parts = append(parts, trim(o.Traceback))
	case o.Name != "" || o.Value != "":
		parts = append(parts, trim(o.Name+": "+o.Value))
	}
	var plain text
	if raw, ok := o.Data["text/plain"]; ok {
		_ = plain.UnmarshalJSON(raw) // never fails
		parts = append(parts, trim(plain))
	}
	for _, kind := range mediaTypes(o) {
		parts = append(parts, "["+oneWord(kind)+" omitted]")
	}
	return parts
}

// mediaTypes returns the types of the images of an output, and of everything that has no text.
func mediaTypes(o output) (kinds []string) {
	_, hasText := o.Data["text/plain"]
	for kind := range o.Data {
		if kind != "text/plain" && (!hasText || strings.HasPrefix(kind, "image/")) {
			kinds = append(kinds, kind)
		}
	}
	slices.Sort(kinds)
	if o.PNG != nil {
		kinds = append(kinds, "image/png")
	}
	if o.JPEG != nil {
		kinds = append(kinds, "image/jpeg")
	}
	return kinds[:min(len(kinds), 10)]
}

// cut returns at most n bytes of the beginning of s and no half character.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
