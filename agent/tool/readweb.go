package tool

import (
	"context"
	"encoding/json"
	"mime"
	"strings"
	"time"

	"github.com/xcsh-ls/xcsh-ls/agent/imaging"
	"github.com/xcsh-ls/xcsh-ls/agent/web"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
)

// webDoc is the part of the description of read about web pages.
const webDoc = "\nThe path can also be the address of a web page (https://…)."

// isWeb reports whether a path is a web address.
func isWeb(path string) bool {
	s := Scheme(path)
	return s == "https" || s == "http"
}

// limitOfRead returns the time limit of a call of read. A page has one of its own, without the time in which the user is asked.
func limitOfRead(args json.RawMessage) time.Duration {
	if path, _ := rawjson.GetString(args, "path"); isWeb(path) {
		return 0
	}
	return defaultLimit
}

// webDetails are those of oh-my-pi.
type webDetails struct {
	Kind        string   `json:"kind"`
	URL         string   `json:"url"`
	FinalURL    string   `json:"finalUrl"`
	ContentType string   `json:"contentType"`
	Method      string   `json:"method"`
	Truncated   bool     `json:"truncated"`
	Notes       []string `json:"notes"`
}

// webPage reads a web page.
func (o Options) webPage(ctx context.Context, env Env, a readArgs) (Result, error) {
	page, err := o.Web.Get(ctx, strings.TrimPrefix(strings.TrimSpace(a.Path), "@"), func(ctx context.Context, site web.Site) error {
		if env.Reach == nil {
			return fault.New(fault.Denied, "Web pages cannot be read here.")
		}
		return env.Reach(ctx, env.CallID, site)
	})
	if err != nil {
		return Result{}, err
	}
	a.Path = page.FinalURL
	kind, _, _ := mime.ParseMediaType(page.ContentType) // "" is shown as such
	d := webDetails{Kind: "url", URL: page.URL, FinalURL: page.FinalURL, ContentType: kind, Truncated: page.Truncated, Notes: page.Notes}
	r, err := o.webResult(ctx, env, a, page, &d)
	if err != nil {
		return Result{}, err
	}
	var head strings.Builder
	head.WriteString("URL: " + page.FinalURL + "\n")
	for _, note := range page.Notes {
		head.WriteString("[" + note + "]\n")
	}
	r.Content[0].Text = head.String() + "\n" + r.Content[0].Text
	r.Details = details(d)
	return r, nil
}

// webResult returns the content of a page, and completes the details.
func (o Options) webResult(ctx context.Context, env Env, a readArgs, page web.Page, d *webDetails) (Result, error) {
	switch text, method, ok := page.Text(); {
	case ok:
		d.Method = method
		r, err := textResult(a, []byte(Printable(text)))
		d.Truncated = d.Truncated || r.Details != nil
		return r, err
	case page.Truncated:
	case imaging.TypeOf(page.Body) != "":
		d.Method = "image"
		return imageResult(a.Path, page.Body), nil
	case isPDF(page.Body):
		d.Method = "pdf"
		return o.pdfResult(ctx, env, a, page.Body)
	}
	kind := d.ContentType
	if kind == "" {
		kind = "of an unknown kind"
	}
	return Result{}, fault.New(fault.InvalidArgument, "%s is neither text nor an image: it is %s (%s).", a.Path, kind, sizeText(int64(len(page.Body))))
}
