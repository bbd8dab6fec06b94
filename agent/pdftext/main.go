package pdftext

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/ledongthuc/pdf"
)

const (
	// maxFile is the largest file, in bytes.
	maxFile = 64 << 20

	// maxPage is how much text of one page is returned, in bytes.
	maxPage = 64 << 10

	// maxText is how much text is returned at least before the following pages are left out.
	maxText = 128 << 10
)

// line is a line of the output of [Main]: first the number of pages, then each page, or an error.
type line struct {
	Pages int    `json:"pages,omitempty"`
	Page  int    `json:"page,omitempty"`
	Text  string `json:"text,omitempty"`
	Error string `json:"error,omitempty"`
}

// Main reads a PDF file from in and writes the text of its pages to out, beginning with page first, as many as fit
// but at most count. It is the whole work of a process, whose resources it limits.
func Main(in io.Reader, out io.Writer, first, count int) error {
	if err := limitResources(); err != nil {
		return err
	}
	content, err := io.ReadAll(io.LimitReader(in, maxFile+1))
	if err != nil {
		return err
	}
	return extract(content, json.NewEncoder(out), first, count)
}

func extract(content []byte, out *json.Encoder, first, count int) error {
	r, pages, err := open(content)
	if err != nil {
		return out.Encode(line{Error: err.Error()})
	}
	if err := out.Encode(line{Pages: pages}); err != nil {
		return err
	}
	size := 0
	for n := first; n <= pages && n-first < count && size < maxText; n++ {
		text, err := pageText(r, n)
		if err != nil && text == "" {
			text = "[The text of this page cannot be read.]"
		}
		size += len(text)
		if err := out.Encode(line{Page: n, Text: text}); err != nil {
			return err
		}
	}
	return nil
}

var (
	errTooLarge  = errors.New("it is too large")
	errEncrypted = errors.New("it needs a password")
	errDamaged   = errors.New("it is damaged, or not a PDF file")
)

// open reads the structure of a file.
func open(content []byte) (r *pdf.Reader, pages int, err error) {
	defer func() {
		if recover() != nil {
			err = errDamaged
		}
	}()
	if len(content) > maxFile {
		return nil, 0, errTooLarge
	}
	r, err = pdf.NewReader(bytes.NewReader(content), int64(len(content)))
	switch {
	case errors.Is(err, pdf.ErrInvalidPassword):
		return nil, 0, errEncrypted
	case err != nil:
		return nil, 0, errDamaged
	}
	if pages = r.NumPage(); pages <= 0 {
		return nil, 0, errDamaged
	}
	return r, pages, nil
}

// pageText returns the text of a page. After an error it is the part before the damage.
func pageText(r *pdf.Reader, n int) (text string, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("pdftext: page %d: %v", n, p)
		}
	}()
	page, w := r.Page(n), newWalker()
	defer func() { text = layout(w.pieces) }() // also what came before a panic
	w.run(page.V.Key("Contents"), page.Resources(), 0)
	return "", nil
}
