package commands

import (
	"bufio"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/session"
	exporter "github.com/xcsh-ls/xcsh-ls/session/export"
	"github.com/xcsh-ls/xcsh-ls/session/fault"
)

var export = New(Spec{
	Name: "xcsh.export", Title: "Export Session…", Flags: Palette | ReadOnly, Input: InputPath, Arg: "path",
	Doc: "Write a session as one HTML page that needs nothing else, as Markdown, as JSONL or for agent-base. The session stays as it is.",
}, runExport)

// ExportArgs are the arguments of xcsh.export.
type ExportArgs struct {
	Subject
	Path      string `json:"path,omitempty" jsonschema:"The file to write, or an existing directory. Absent: a name after the session, in the working directory."`
	Format    string `json:"format,omitempty" jsonschema:"html, markdown, jsonl or agentBase. Absent: by the path's ending, else html."`
	Redact    bool   `json:"redact,omitempty" jsonschema:"Replace what looks like a password, key or token. What looks like any other word stays."`
	Theme     string `json:"theme,omitempty" jsonschema:"How a page begins: auto (as the reader's system), light or dark. Absent: auto."`
	Overwrite bool   `json:"overwrite,omitempty" jsonschema:"Replace an existing file."`
	Open      bool   `json:"open,omitempty" jsonschema:"Show the file to the person."`

	IncludeTool     bool `json:"includeTool,omitempty" jsonschema:"For agentBase: keep what tools answered."`
	RegisterInIndex bool `json:"registerInIndex,omitempty" jsonschema:"For agentBase: put the session into index.json beside it, so that agent-base lists it."`
}

// ExportResult says what was written.
type ExportResult struct {
	Path     string         `json:"path"`
	Bytes    int64          `json:"bytes"`
	Redacted map[string]int `json:"redacted,omitempty" jsonschema:"How many secrets of each kind were replaced. Absent: none was asked for or found, and the file holds whatever the session does."`
	Losses   map[string]int `json:"losses,omitzero" jsonschema:"For agentBase: how much of each kind has no place there and was left out."`
	Note     string         `json:"note,omitempty" jsonschema:"What the person should know."`
}

func runExport(ctx context.Context, env *Env, a ExportArgs) (r ExportResult, err error) {
	a.Path = unquoted(a.Path) // its ending may say the format
	switch a.Path {
	case "--copy", "clipboard", "copy":
		return r, fault.New(fault.InvalidArgument, "Use xcsh.dump to copy the session to the clipboard.").With("field", "path")
	}
	err = env.withSource(ctx, a.Subject, func(cwd string, sub subject) error {
		if err := sub.exportable(); err != nil {
			return err
		}
		target, format, err := env.exportTarget(cwd, sub, a)
		if err != nil {
			return err
		}
		style := exportStyle{format: format, theme: a.Theme, redact: a.Redact, overwrite: a.Overwrite}
		if format == agentBase {
			r, err = env.exportToAgentBase(ctx, target, sub, style, a)
		} else {
			r, err = env.exportTo(ctx, target, sub, style)
		}
		return err
	})
	if err == nil && a.Open {
		env.UI.Open(ctx, r.Path, strings.HasSuffix(r.Path, ".html"))
	}
	return r, err
}

// exportable refuses a session that has no file.
func (sub subject) exportable() error {
	if sub.path == "" {
		return fault.New(fault.NotPersistent, "Cannot export in-memory session to HTML")
	}
	return nil
}

// exportStyle is how a session is written to a file.
type exportStyle struct {
	format, theme     string
	redact, overwrite bool
}

// exportTo writes a session at path, whole or not at all. It stops when ctx ends.
func (env *Env) exportTo(ctx context.Context, path string, sub subject, style exportStyle) (r ExportResult, err error) {
	doc, err := env.fileDoc(ctx, sub, style.format)
	if err != nil {
		return r, err
	}
	if style.redact {
		doc = new(exporter.Redactor).Doc(doc)
	}
	n, err := env.writeExport(ctx, path, style.overwrite, func(w io.Writer) error {
		return writeFormat(w, doc, style.format, style.theme)
	})
	if err != nil {
		return r, err
	}
	r = ExportResult{Path: path, Bytes: n}
	if style.redact {
		r.Redacted = doc.Redacted()
	}
	return r, nil
}

// untilDone is w until ctx ends.
func untilDone(ctx context.Context, w io.Writer) io.Writer {
	return writerFunc(func(b []byte) (int, error) {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		return w.Write(b)
	})
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }

// extensions are the formats and what the names of their files end with.
var extensions = map[string]string{"html": ".html", "markdown": ".md", "jsonl": ".jsonl", agentBase: ".json"}

func exportFormat(a ExportArgs) (string, error) {
	if a.Theme != "" && a.Theme != "auto" && a.Theme != "light" && a.Theme != "dark" {
		return "", fault.New(fault.InvalidArgument, "theme must be auto, light or dark, not %q.", a.Theme).With("field", "theme")
	}
	if a.Format == "" {
		switch strings.ToLower(filepath.Ext(a.Path)) {
		case ".jsonl":
			return "jsonl", nil
		case ".md", ".markdown":
			return "markdown", nil
		case ".json":
			return agentBase, nil
		}
		return "html", nil
	}
	if _, ok := extensions[a.Format]; !ok {
		return "", fault.New(fault.InvalidArgument, "format must be html, markdown, jsonl or agentBase, not %q.", a.Format).With("field", "format")
	}
	return a.Format, nil
}

// exportTarget settles where to write and in which format.
func (env *Env) exportTarget(cwd string, sub subject, a ExportArgs) (path, format string, err error) {
	if format, err = exportFormat(a); err != nil {
		return "", "", err
	}
	name := "xcsh-session-" + strings.TrimSuffix(filepath.Base(sub.path), ".jsonl") + extensions[format]
	if format == agentBase {
		name = agentBaseName(sub)
	}
	path = filepath.Join(cwd, name)
	if a.Path != "" {
		if path, err = env.absolute(cwd, a.Path, "path"); err != nil {
			return "", "", err
		}
	}
	info, statErr := env.Fs.Stat(path)
	if statErr == nil && info.IsDir() {
		path = filepath.Join(path, name)
		info, statErr = env.Fs.Stat(path)
	}
	if format == agentBase {
		if err := checkAgentBaseName(path); err != nil {
			return "", "", err
		}
	}
	return path, format, env.checkTarget(path, sub.path, info, statErr)
}

// checkTarget refuses to write where a session is: below a sessions root, also by way
// of a link, and over the very session that is exported.
func (env *Env) checkTarget(path, source string, info os.FileInfo, statErr error) error {
	if statErr == nil {
		if at, err := env.Fs.Stat(source); err == nil && (path == source || os.SameFile(info, at)) {
			return fault.New(fault.OutsideRoot, "%s is the session itself; export somewhere else.", path).With("path", path)
		}
	}
	real := path
	if env.Finder.RealPath != nil {
		if dir, err := env.Finder.RealPath(filepath.Dir(path)); err == nil {
			real = filepath.Join(dir, filepath.Base(path))
		}
	}
	for _, p := range []string{path, real} {
		if _, ok := env.Finder.FileRoot(p); ok {
			return fault.New(fault.OutsideRoot, "%s is where sessions live; export somewhere else.", path).With("path", path)
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
	}
	return exporter.HTML(w, doc, exporter.HTMLOptions{AppName: "xcsh-ls", Theme: theme})
}

// writeExport puts content at path, whole or not at all. It stops when ctx ends.
func (env *Env) writeExport(ctx context.Context, path string, overwrite bool, content func(io.Writer) error) (int64, error) {
	var n counter
	err := env.Store.WriteFile(path, overwrite, func(w io.Writer) error {
		buffered := bufio.NewWriterSize(io.MultiWriter(w, &n), 1<<16)
		if err := content(untilDone(ctx, buffered)); err != nil {
			return err // a failed write is remembered: Flush would only say it again
		}
		return buffered.Flush()
	})
	if err != nil && ctx.Err() != nil {
		err = fault.New(fault.Cancelled, "The export was cancelled.")
	}
	return int64(n), err
}

type counter int64

func (c *counter) Write(b []byte) (int, error) {
	*c += counter(len(b))
	return len(b), nil
}

// addInstructions adds what a live session tells its model before the conversation. Of
// another one nobody knows it.
func (sub subject) addInstructions(ctx context.Context, doc *exporter.Doc) {
	if sub.live == nil {
		return
	}
	var tools []provider.Tool
	doc.SystemPrompt, tools = sub.live.Instructions(ctx)
	for _, t := range tools {
		doc.Tools = append(doc.Tools, exporter.Tool{Name: t.Name, Description: t.Description, Parameters: t.Parameters})
	}
}

// exportDoc gathers what a dump shows of a session.
func (env *Env) exportDoc(ctx context.Context, sub subject) (exporter.Doc, error) {
	built, _, err := session.BuildContext(sub.doc, sub.leaf, env.Store.BlobsFor(sub.path))
	if err != nil {
		return exporter.Doc{}, err
	}
	doc := exporter.Doc{Messages: built.Messages, Model: built.Models["default"]}
	if built.HasThinkingLevel {
		doc.ThinkingLevel = built.ThinkingLevel
	}
	sub.addInstructions(ctx, &doc)
	return doc, nil
}

// fileDoc gathers what a format has of a session. A page finds path and labels by itself.
func (env *Env) fileDoc(ctx context.Context, sub subject, format string) (exporter.Doc, error) {
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
		doc.Entries = sub.doc.Lines(env.Store.BlobsFor(sub.path))
		return doc, nil
	}
	path := sub.doc.PathTo(sub.leaf)
	doc.PathIDs = make(map[string]bool, len(path))
	for _, i := range path {
		doc.PathIDs[sub.doc.ID(i)] = true
	}
	state, err := sub.doc.ContextState(sub.leaf)
	if err != nil {
		return doc, err
	}
	doc.Model = state.Models["default"]
	doc.ThinkingLevel = state.ThinkingLevel
	doc.Labels, err = sub.doc.Labels()
	return doc, err
}

// lostLines returns how many lines of the file nobody can read.
func lostLines(d *session.Document) (n int) {
	for _, p := range d.Problems() {
		if p.Lost {
			n++
		}
	}
	return n
}
