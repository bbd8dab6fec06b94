package tool

import (
	"bytes"
	"cmp"
	"context"
	_ "embed" // the tools' descriptions
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/agent/imaging"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

//go:embed read.md
var readDoc string

type readArgs struct {
	Path   string `json:"path"`
	Offset int    `json:"offset,omitzero" jsonschema:"The first line, counted from 1."`
	Limit  int    `json:"limit,omitzero" jsonschema:"How many lines."`
}

func newRead(o Options) Tool {
	doc := readDoc
	if o.Web != nil {
		doc = strings.TrimSpace(doc) + webDoc
	}
	t := define(definition[readArgs]{
		name: "read", doc: doc,
		accept: acceptRead,
		check: func(a readArgs) error {
			if a.Offset < 0 || a.Limit < 0 {
				return badArgument("offset", "read: offset and limit must be at least 1.")
			}
			if o.Web != nil && isWeb(a.Path) {
				return nil
			}
			return filesOrResources("read", a.Path)
		},
		run: func(ctx context.Context, env Env, a readArgs) (Result, error) {
			if o.Web != nil && isWeb(a.Path) {
				return o.webPage(ctx, env, a)
			}
			a, err := o.selected(env, a)
			if err != nil {
				return Result{}, err
			}
			path, err := o.place(env, "read", a.Path, false)
			if err != nil {
				return Result{}, err
			}
			content, err := readExisting(ctx, o, env, path)
			switch {
			case err != nil:
				return Result{}, err
			case imaging.TypeOf(content) != "":
				return imageResult(a.Path, content), nil
			case isPDF(content):
				return o.pdfResult(ctx, env, a, content)
			case bytes.IndexByte(content, 0) >= 0:
				return Result{}, fault.New(fault.InvalidArgument,
					"%s is a binary file (%s). read shows text, images, PDF files and notebooks; use bash (file, strings, xxd) to inspect it.", a.Path, sizeText(int64(len(content))))
			}
			if r, ok, err := notebookResult(a, content); ok {
				return r, err
			}
			return textResult(a, content)
		},
	})
	t.Limit = limitOfRead
	return t
}

// readExisting reads a file through the workspace after making sure that it can be.
func readExisting(ctx context.Context, o Options, env Env, path string) ([]byte, error) {
	f, err := readFile(ctx, o, env, path)
	return f.Content, err
}

func readFile(ctx context.Context, o Options, env Env, path string) (File, error) {
	if err := cmp.Or(readable(o.Fs, path), o.mayShow(path)); err != nil {
		return File{}, err
	}
	f, err := env.Files.ReadFile(ctx, path)
	if errors.Is(err, fs.ErrNotExist) {
		return File{}, (&fault.Error{Kind: fault.NotFound, Message: "File not found: " + path, Err: err}).With("path", path)
	}
	if err := cmp.Or(err, o.mayUse(path, f)); err != nil {
		return File{}, err
	}
	return f, nil
}

// readDetails are kept for the user's screen. They are pi's, as those of the other tools.
type readDetails struct {
	Truncation *Truncation `json:"truncation,omitempty"`
}

func textResult(a readArgs, content []byte) (Result, error) {
	// Differs: the end of the last line begins no further one, and lines are shown without
	// their carriage returns and the file without its byte order mark.
	content = bytes.TrimPrefix(content, []byte("\ufeff"))
	total := countLines(string(content))
	first := max(a.Offset, 1)
	if total == 0 && first == 1 {
		return TextResult("(the file is empty)"), nil
	}
	if first > total {
		return Result{}, badArgument("offset", "Offset %d is beyond the end of %s, which has %s.", first, a.Path, counted(total, "line"))
	}
	last := total
	if a.Limit > 0 && a.Limit < total-first+1 {
		last = first + a.Limit - 1
	}
	selected := strings.ToValidUTF8(strings.ReplaceAll(string(lines(content, first, last)), "\r\n", "\n"), "\uFFFD")
	out, cut := head(selected)
	switch {
	case cut.FirstLineExceedsLimit:
		line, _, _ := strings.Cut(selected, "\n")
		out = fmt.Sprintf("[Line %d is %s, more than the limit of %s. Use bash: sed -n '%dp' %s | head -c %d]",
			first, sizeText(int64(len(line))), sizeText(MaxBytes), first, shellQuote(a.Path), MaxBytes)
	case cut.Truncated:
		end := first + cut.OutputLines - 1
		out += fmt.Sprintf("\n\n[Showing lines %d-%d of %d%s. Use offset=%d to continue.]", first, end, total, limitNote(cut), end+1)
	case last < total:
		out = strings.TrimSuffix(out, "\n") + fmt.Sprintf("\n\n[%s in the file. Use offset=%d to continue.]", counted(total-last, "more line"), last+1)
	}
	r := TextResult(out)
	if cut.Truncated {
		r.Details = details(readDetails{&cut})
	}
	return r, nil
}

// lines returns the lines first to last of content, counted from 1.
func lines(content []byte, first, last int) []byte {
	start, end, n := 0, 0, 0
	for n < last && end < len(content) {
		n++
		if n == first {
			start = end
		}
		i := bytes.IndexByte(content[end:], '\n')
		if i < 0 {
			end = len(content)
			break
		}
		end += i + 1
	}
	return content[start:end]
}

func limitNote(cut Truncation) string {
	if *cut.TruncatedBy == byBytes {
		return " (" + sizeText(MaxBytes) + " limit)"
	}
	return ""
}

// counted is "1 line" or "2 lines".
func counted(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return strconv.Itoa(n) + " " + noun
}

// shellQuote quotes s as one word for a shell.
func shellQuote(s string) string {
	if s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-+,@%") == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// details encodes the details for the user's screen. Its types always can be encoded.
func details(v any) json.RawMessage {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic("tool: details: " + err.Error())
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

func imageResult(path string, content []byte) Result {
	mime := imaging.TypeOf(content)
	fitted := imaging.Fit(provider.Block{Type: provider.TypeImage, Data: base64.StdEncoding.EncodeToString(content), MimeType: mime})
	if fitted.Type != provider.TypeImage {
		return TextResult(fmt.Sprintf("%s is an image (%s) of %s. %s Make a smaller copy with bash and read that.",
			path, mime, sizeText(int64(len(content))), fitted.Text))
	}
	return Result{Content: []provider.Block{provider.Text("Read image file [" + mime + "]"), fitted}}
}
