package tool

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/agent/notebook"
	"github.com/xcsh-ls/xcsh-ls/agent/pdftext"
	"github.com/xcsh-ls/xcsh-ls/agent/sandbox"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// parts is the text of a file that has numbered parts: the pages of a PDF, the cells of a notebook. Offset and limit of
// read count these.
type parts struct {
	noun  string
	first int // number of the first of texts
	texts []string
	total int // parts of the file
	note  string
}

// result shows as many whole parts as the limits of a result allow, and at least one.
func (p parts) result(a readArgs) (Result, error) {
	if p.first > p.total {
		return Result{}, badArgument("offset", "Offset %d is beyond the end of %s, which has %s.", p.first, a.Path, counted(p.total, p.noun))
	}
	var out []string
	size, lines := 0, 0
	for _, text := range p.texts {
		if a.Limit > 0 && len(out) == a.Limit {
			break
		}
		size, lines = size+len(text)+1, lines+countLines(text)+1
		if len(out) > 0 && (size > MaxBytes || lines > MaxLines) {
			break
		}
		out = append(out, text)
	}
	text := strings.Join(out, "\n")
	if short, cut := head(text); cut.Truncated { // one part that is too long
		if text = short; cut.FirstLineExceedsLimit {
			text = firstBytes(p.texts[0], MaxBytes)
		}
		text += fmt.Sprintf("\n\n[The rest of %s %d is omitted.]", p.noun, p.first)
	}
	if last := p.first + len(out) - 1; last < p.total {
		text += fmt.Sprintf("\n\n[Showing %s %d-%d of %d. Use offset=%d to continue.]", p.noun+"s", p.first, last, p.total, last+1)
	}
	return TextResult(text + p.note), nil
}

// notebookResult is the result for a notebook. ok is false for another file, whose text is shown.
//
// Differs: pi shows the JSON, with its escapes, metadata and images.
func notebookResult(a readArgs, content []byte) (r Result, ok bool, err error) {
	if !strings.EqualFold(filepath.Ext(a.Path), ".ipynb") {
		return Result{}, false, nil
	}
	cells, err := notebook.Cells(content)
	if err != nil || len(cells) == 0 {
		return Result{}, false, nil //nolint:nilerr // the text of a damaged notebook is what there is to show
	}
	p := parts{
		noun: "cell", first: max(a.Offset, 1), total: len(cells),
		note: "\n\n[edit and bash see the notebook's JSON, in which strings are escaped.]",
	}
	p.texts = cells[min(p.first-1, len(cells)):]
	r, err = p.result(a)
	return r, true, err
}

const pdfMark = "%PDF-"

// PDFText returns the text of a PDF file, as read shows it; name is that of the file in messages. It needs the fields PDF and
// Sandbox. ok is false for another file.
func (o Options) PDFText(ctx context.Context, cwd, name string, content []byte) (text string, ok bool, err error) {
	if !isPDF(content) {
		return "", false, nil
	}
	r, err := o.pdfResult(ctx, Env{Cwd: cwd}, readArgs{Path: name}, content)
	if err != nil {
		return "", true, err
	}
	return r.Content[0].Text, true, nil
}

// isPDF reports whether a file is a PDF. The mark can come after a few other bytes.
func isPDF(content []byte) bool {
	return strings.Contains(string(content[:min(len(content), 1024)]), pdfMark)
}

// pdfResult is the result for a PDF file, whose text another process extracts.
//
// Differs: pi shows the bytes as text.
func (o Options) pdfResult(ctx context.Context, env Env, a readArgs, content []byte) (Result, error) {
	if len(o.PDF) == 0 {
		return Result{}, fault.New(fault.InvalidArgument, "%s is a PDF file, whose text cannot be extracted here. Use bash: pdftotext %s -", a.Path, shellQuote(a.Path))
	}
	argv, err := o.PDF, error(nil)
	if o.Sandbox != nil {
		if argv, _, err = o.Sandbox.Argv(env.Cwd, sandbox.Strict, argv); err != nil {
			return Result{}, err
		}
	}
	first, count := max(a.Offset, 1), a.Limit
	if count == 0 {
		count = MaxLines
	}
	process := pdftext.Process{Argv: argv, Env: modelEnv(os.Environ())}
	text, err := pdftext.Read(ctx, process, content, first, count)
	switch {
	case ctx.Err() != nil:
		return Result{}, ctx.Err()
	case err != nil:
		return Result{}, fault.New(fault.InvalidArgument, "The PDF file %s cannot be read: %w.", a.Path, err)
	}
	p := parts{noun: "page", first: first, total: text.Total, texts: slices.Clone(text.Pages)}
	for i, page := range p.texts {
		if page == "" {
			page = "(no text; the page may be a picture)"
		}
		p.texts[i] = "[Page " + strconv.Itoa(first+i) + "]\n" + printable(page) + "\n"
	}
	return p.result(a)
}

// firstBytes returns at most n bytes of the beginning of s and no half character.
func firstBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "")
}
