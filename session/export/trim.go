package export

import (
	"io"
	"strings"
)

// trimmer writes texts without the white space at the beginning of the first one and at the end of the last one, as
// JavaScript's trim would from all of them together. It holds back the white space at the end of each text.
type trimmer struct {
	to    io.Writer
	begun bool   // a character other than white space was written
	held  string // white space that is written if any other character follows
}

// write writes s, which is valid UTF-8.
func (t *trimmer) write(s string) error {
	if !t.begun {
		s = strings.TrimLeftFunc(s, isJSSpace)
	}
	text := strings.TrimRightFunc(s, isJSSpace)
	if text == "" {
		t.held += s
		return nil
	}
	t.begun = true
	if _, err := io.WriteString(t.to, t.held); err != nil {
		return err
	}
	t.held = strings.Clone(s[len(text):]) // the text itself is not kept
	_, err := io.WriteString(t.to, text)
	return err
}
