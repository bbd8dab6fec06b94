package commands

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
	"github.com/xcsh-ls/xcsh-ls/session"
	exporter "github.com/xcsh-ls/xcsh-ls/session/export"
	"github.com/xcsh-ls/xcsh-ls/session/library"
)

var export = New(Spec{
	Name: "xcsh.export", Title: "Export Session…", Flags: Palette | WritesFile | NeedsPersistent, Input: InputPath, Arg: "path",
	Doc:     "Write a session to a self-contained HTML page, or to Markdown, plain text, JSONL or agent-base's format. The session does not change.",
	refusal: refusal{inMemory: exportInMemory},
}, runExport)

const exportInMemory = "Cannot export in-memory session to HTML"

// ExportArgs are the arguments of xcsh.export.
//
// Differs: the originals don't redact exports.
type ExportArgs struct {
	Subject
	Path      string `json:"path,omitempty" jsonschema:"The file to write, or an existing directory. Default: a file named after the session, in the working directory."`
	Format    string `json:"format,omitempty" jsonschema:"html, markdown, text (that of xcsh.dump), jsonl or agentBase. Default: according to the path's extension, or else html."`
	Redact    *bool  `json:"redact,omitempty" jsonschema:"Replace text that looks like a password, key or token. Secrets that look like other words are not found. Default: true."`
	Doubtful  string `json:"doubtful,omitempty" jsonschema:"With redact: keep or replace text that may be a secret. Default: keep, and list it in the result."`
	Theme     string `json:"theme,omitempty" jsonschema:"The initial theme of a page: auto (that of the reader's system), light or dark. Default: auto."`
	Overwrite bool   `json:"overwrite,omitempty" jsonschema:"Replace an existing file."`
	Open      *bool  `json:"open,omitempty" jsonschema:"Open the file: a page in the browser, any other file in the editor. Default: open a page if the client can show it, unless the option export.open is false."`

	IncludeTool     bool `json:"includeTool,omitempty" jsonschema:"For agentBase: include tool results."`
	RegisterInIndex bool `json:"registerInIndex,omitempty" jsonschema:"For agentBase: add the session to the index.json in the same directory, so that agent-base lists it."`
}

// ExportResult describes the exported file.
type ExportResult struct {
	Path     string              `json:"path"`
	Bytes    int64               `json:"bytes"`
	Redacted map[string]int      `json:"redacted,omitempty" jsonschema:"The number of replaced secrets by kind. Absent: redact was false, or no secret was found; the file contains everything in the session."`
	Replaced []exporter.Replaced `json:"replaced,omitempty" jsonschema:"Where secrets were replaced, by kind."`
	Doubtful []exporter.Doubt    `json:"doubtful,omitempty" jsonschema:"Text that may be a secret and was kept. Review it before you share the file."`
	Opened   bool                `json:"opened,omitempty" jsonschema:"The client has opened the file."`
	Losses   map[string]int      `json:"losses,omitzero" jsonschema:"For agentBase: the number of omitted items by kind, because the format cannot represent them."`
	Unlisted bool                `json:"unlisted,omitempty" jsonschema:"For agentBase: agent-base can resume the session by name, but lists it only after its index is rebuilt. note says so for a user of an editor."`
	Note     string              `json:"note,omitempty" jsonschema:"A message for the user."`
}

func (a ExportArgs) check() error { return checkDoubtful(a.Doubtful, doubtfulKeep, doubtfulReplace) }

func runExport(ctx context.Context, env *Env, a ExportArgs) (r ExportResult, err error) {
	a.Path = unquoted(a.Path) // the extension may determine the format
	switch a.Path {
	case "--copy", "clipboard", "copy":
		return r, fault.New(fault.InvalidArgument, "Use xcsh.dump to copy the session to the clipboard.").With("field", "path")
	}
	job := newExportJob(env, exportStyle{theme: a.Theme, redact: unlessFalse(a.Redact), doubtful: a.Doubtful == doubtfulReplace, overwrite: a.Overwrite})
	err = env.withSource(ctx, a.Subject, func(sub subject) (err error) {
		var target string
		if target, job.style.format, err = job.target(sub, a); err != nil {
			return err
		}
		if job.style.format == agentBase {
			r, err = job.toAgentBase(ctx, target, sub, a)
		} else {
			r, err = job.write(ctx, target, sub)
		}
		return err
	})
	if err != nil {
		return r, err
	}
	if len(r.Redacted) > 0 && !env.Pick { // other clients show the result themselves
		env.UI.Notify(ctx, LevelInfo, RedactedText(r.Redacted))
	}
	r.Opened = a.show(ctx, env, r.Path)
	return r, nil
}

// show opens the exported file if the user wants that. It reports whether the client did so.
func (a ExportArgs) show(ctx context.Context, env *Env, path string) bool {
	switch page := a.IsPage(path); {
	case a.Open != nil && *a.Open:
		return env.UI.Open(ctx, path, page)
	case a.Open == nil && page && env.OpenPages:
		ctx, cancel := context.WithTimeout(ctx, openWithin)
		defer cancel()
		return env.UI.OpenPage(ctx, path)
	}
	return false
}

// IsPage reports whether the exported file at path is a page under a page's name. Nothing else is
// opened outside the editor: the system would run some files, and a browser the markup in a session.
func (a ExportArgs) IsPage(path string) bool {
	a.Path = path
	format, err := exportFormat(a)
	return err == nil && format == "html" && isPageName(path)
}

// isPageName reports whether systems open a file of that name in a browser.
func isPageName(path string) bool {
	ext := strings.ToLower(filepath.Ext(path))
	return ext == ".html" || ext == ".htm"
}

// unlessFalse is the value of an argument that is true by default.
func unlessFalse(v *bool) bool { return v == nil || *v }

// exportStyle describes how to write a session to a file.
type exportStyle struct {
	format, theme     string
	redact, overwrite bool
	doubtful          bool // also replace text that may be a secret
}

// exportJob writes sessions to files in one style.
type exportJob struct {
	fs     afero.Fs
	store  *session.Store
	finder library.Finder
	paths  resolver
	style  exportStyle

	to      io.Writer             // instead of a file; nil: a file
	reading func(done, total int) // see [Env.Reading]
}

func newExportJob(env *Env, style exportStyle) exportJob {
	return exportJob{fs: env.Fs, store: env.Store, finder: env.Finder, paths: env.resolver(), style: style, reading: env.Reading}
}

// write writes a session to path atomically. It stops when ctx ends.
func (job exportJob) write(ctx context.Context, path string, sub subject) (r ExportResult, err error) {
	style := job.style
	doc, err := sub.fileDoc(ctx, style.format)
	if err != nil {
		return r, err
	}
	passes := exportPasses(style.format, style.redact)
	doc.Entries = job.counted(doc.Entries, passes, sub.doc.Len())
	doc.Messages = job.counted(doc.Messages, passes, len(sub.doc.PathTo(sub.leaf)))
	var redactor *exporter.Redactor
	if style.redact {
		redactor = job.redactor()
		doc.Entries, doc.Messages = linesUntilDone(ctx, doc.Entries), linesUntilDone(ctx, doc.Messages)
		doc = redactor.Doc(doc)
	}
	n, err := job.writeFile(ctx, path, func(w io.Writer) error {
		return writeFormat(w, doc, style.format, style.theme)
	})
	if err != nil {
		return r, err
	}
	r = ExportResult{Path: path, Bytes: n}
	if style.redact {
		r.redacted(redactor)
	}
	return r, nil
}

// redacted records what a redactor replaced.
func (r *ExportResult) redacted(by *exporter.Redactor) {
	r.Redacted, r.Replaced, r.Doubtful = by.Counts(), by.Replaced(), by.Doubts()
}

// untilDone returns a writer to w that fails when ctx has ended.
func untilDone(ctx context.Context, w io.Writer) io.Writer {
	return writerFunc(func(b []byte) (int, error) {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		return w.Write(b)
	})
}

// linesUntilDone yields lines, if there are any, until ctx ends.
func linesUntilDone(ctx context.Context, lines iter.Seq2[json.RawMessage, error]) iter.Seq2[json.RawMessage, error] {
	if lines == nil {
		return nil
	}
	return func(yield func(json.RawMessage, error) bool) {
		for raw, err := range lines {
			if err == nil {
				err = ctx.Err()
			}
			if !yield(raw, err) || err != nil {
				return
			}
		}
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }

// extensions maps formats to file name extensions.
var extensions = map[string]string{"html": ".html", "markdown": ".md", "text": ".txt", "jsonl": ".jsonl", agentBase: ".json"}

// formats maps the extensions of exported files to formats.
var formats = map[string]string{
	".html": "html", ".htm": "html", ".md": "markdown", ".markdown": "markdown", ".txt": "text", ".jsonl": "jsonl", ".json": agentBase,
}

func exportFormat(a ExportArgs) (string, error) {
	if a.Theme != "" && a.Theme != "auto" && a.Theme != "light" && a.Theme != "dark" {
		return "", fault.New(fault.InvalidArgument, "theme must be auto, light or dark, not %q.", a.Theme).With("field", "theme")
	}
	if a.Format == "" {
		if format, ok := formats[strings.ToLower(filepath.Ext(a.Path))]; ok {
			return format, nil
		}
		return "html", nil
	}
	if _, ok := extensions[a.Format]; !ok {
		return "", fault.New(fault.InvalidArgument, "format must be html, markdown, text, jsonl or agentBase, not %q.", a.Format).With("field", "format")
	}
	return a.Format, nil
}

// target returns the file to write and its format.
func (job exportJob) target(sub subject, a ExportArgs) (path, format string, err error) {
	if format, err = exportFormat(a); err != nil {
		return "", "", err
	}
	name := "xcsh-session-" + strings.TrimSuffix(filepath.Base(sub.path), ".jsonl") + extensions[format]
	if format == agentBase {
		name = job.agentBaseName(sub)
	}
	path = filepath.Join(sub.cwd, name)
	if a.Path != "" {
		if path, err = job.paths.absolute(sub.cwd, a.Path, "path"); err != nil {
			return "", "", err
		}
	}
	info, statErr := job.fs.Stat(path)
	if statErr == nil && info.IsDir() {
		path = filepath.Join(path, name)
		info, statErr = job.fs.Stat(path)
	}
	if format == agentBase {
		if err := checkAgentBaseName(path); err != nil {
			return "", "", err
		}
	}
	return path, format, job.checkTarget(path, sub.path, info, statErr)
}

// checkTarget returns an error for a path below a sessions root, also through a link, and for
// the file of the exported session itself.
func (job exportJob) checkTarget(path, source string, info os.FileInfo, statErr error) error {
	if statErr == nil {
		if at, err := job.fs.Stat(source); err == nil && (path == source || os.SameFile(info, at)) {
			return fault.New(fault.OutsideRoot, "%s is the session itself. Choose another path.", path).With("path", path)
		}
	}
	real := path
	if job.finder.RealPath != nil {
		if dir, err := job.finder.RealPath(filepath.Dir(path)); err == nil {
			real = filepath.Join(dir, filepath.Base(path))
		}
	}
	for _, p := range []string{path, real} {
		if _, ok := job.finder.FileRoot(p); ok {
			return fault.New(fault.OutsideRoot, "%s is in a sessions directory. Choose another path.", path).With("path", path)
		}
	}
	return nil
}

func writeFormat(w io.Writer, doc exporter.Doc, format, theme string) error {
	switch format {
	case "jsonl":
		return exporter.JSONL(w, doc)
	case "markdown":
		return exporter.Markdown(w, doc)
	case "text":
		if err := writeText(w, doc, false); err != nil {
			return err
		}
		_, err := io.WriteString(w, "\n")
		return err
	}
	return exporter.HTML(w, doc, exporter.HTMLOptions{AppName: "xcsh-ls", Theme: theme})
}

// writeFile writes content to path atomically, or to job.to. It stops when ctx ends.
func (job exportJob) writeFile(ctx context.Context, path string, content func(io.Writer) error) (written int64, err error) {
	defer func() {
		if err != nil && ctx.Err() != nil {
			err = fault.New(fault.Cancelled, "The export was cancelled.")
		}
	}()
	if job.to != nil {
		return job.writeTo(ctx, content)
	}
	var n counter
	err = job.store.WriteFile(path, job.style.overwrite, func(w io.Writer) error {
		buffered := bufio.NewWriterSize(io.MultiWriter(w, &n), 1<<16)
		if err := content(untilDone(ctx, buffered)); err != nil {
			return err // Flush would return the same write error
		}
		return buffered.Flush()
	})
	return int64(n), err
}

type counter int64

func (c *counter) Write(b []byte) (int, error) {
	*c += counter(len(b))
	return len(b), nil
}

// addInstructions adds the system prompt and the tools of a live session. Those of other
// sessions are unknown.
func (sub subject) addInstructions(ctx context.Context, doc *exporter.Doc) {
	if sub.live == nil {
		return
	}
	var tools []provider.Tool
	doc.SystemPrompt, tools = sub.live.Instructions(ctx, sub.doc, sub.leaf)
	for _, t := range tools {
		doc.Tools = append(doc.Tools, exporter.Tool{Name: t.Name, Description: t.Description, Parameters: t.Parameters})
	}
}

// dump returns the contents of a dump.
func (sub subject) dump(ctx context.Context) (doc exporter.Doc, err error) {
	var built session.Context
	if built, doc.Messages, err = session.StreamContext(sub.doc, sub.leaf, sub.blobs()); err != nil {
		return doc, err
	}
	doc.Model = built.Models["default"]
	if built.HasThinkingLevel {
		doc.ThinkingLevel = built.ThinkingLevel
	}
	sub.addInstructions(ctx, &doc)
	return doc, nil
}

// fileDoc returns the contents of an export. The script of an HTML page computes the path and
// labels.
func (sub subject) fileDoc(ctx context.Context, format string) (exporter.Doc, error) {
	if format == "text" {
		return sub.dump(ctx)
	}
	doc := exporter.Doc{
		Header: sub.doc.HeaderLine(), LeafID: sub.doc.LeafID(sub.leaf), Entries: sub.doc.Lines(nil),
		Title: sub.doc.Title().Text, FileName: filepath.Base(sub.path), Damaged: lostLines(sub.doc),
	}
	if format == "jsonl" {
		return doc, nil
	}
	if doc.LeafID == "" && len(sub.doc.PathTo(sub.leaf)) == 0 {
		doc.PathIDs = map[string]bool{} // before the first entry
	}
	sub.addInstructions(ctx, &doc)
	if format == "html" {
		doc.Entries = shownLines(sub.doc, sub.blobs())
		return doc, nil
	}
	doc.Entries = shownLines(sub.doc, nil)
	sub.setPath(&doc)
	state, _, err := session.StreamContext(sub.doc, sub.leaf, nil)
	if err != nil {
		return doc, err
	}
	doc.Model = state.Models["default"]
	doc.ThinkingLevel = state.ThinkingLevel
	doc.Labels, err = sub.doc.Labels()
	return doc, err
}

// setPath sets which entries of doc are on the path: by their numbers, or by their ids if entries share one.
func (sub subject) setPath(doc *exporter.Doc) {
	d, path := sub.doc, sub.doc.PathTo(sub.leaf)
	doc.PathIDs = nil
	on := make([]bool, d.Len())
	for _, i := range path {
		on[i] = true
	}
	shown := on[:0]
	for i, parent := range d.Shape(d.Len()) {
		switch {
		case d.Hidden(i):
		case parent == session.NotInTree:
			doc.PathIDs = make(map[string]bool, len(path))
			for _, i := range path {
				doc.PathIDs[d.ID(i)] = true
			}
			return
		default:
			shown = append(shown, on[i])
		}
	}
	doc.OnPath = func(n int) bool { return n < len(shown) && shown[n] }
}

// shownLines returns the lines of the entries that are not hidden, as children of each other.
func shownLines(d *session.Document, blobs session.BlobSource) iter.Seq2[json.RawMessage, error] {
	return func(yield func(json.RawMessage, error) bool) {
		parents, i := d.ShownParents(), -1
		for line, err := range d.Lines(blobs) {
			i++
			if err == nil && d.Hidden(i) {
				continue
			}
			if err == nil {
				line = reparented(line, d, i, parents[i])
			}
			if !yield(line, err) {
				return
			}
		}
	}
}

// reparented returns the line of entry i with the shown parent, which differs from the recorded
// one if that is hidden.
func reparented(line json.RawMessage, d *session.Document, i, parent int) json.RawMessage {
	switch p := d.Parent(i); {
	case p == parent:
		return line
	case parent < 0:
		return rawjson.Set(line, "parentId", []byte("null"))
	default:
		return rawjson.SetString(line, "parentId", d.ID(parent))
	}
}

// lostLines returns the number of unreadable lines.
func lostLines(d *session.Document) (n int) {
	for _, p := range d.Problems() {
		if p.Lost {
			n++
		}
	}
	return n
}
