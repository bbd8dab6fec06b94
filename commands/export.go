package commands

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/session"
	exporter "github.com/xcsh-ls/xcsh-ls/session/export"
	"github.com/xcsh-ls/xcsh-ls/session/fault"
)

var export = New(Spec{
	Name: "xcsh.export", Title: "Export Session…", Flags: Palette | ReadOnly, Input: InputPath, Arg: "path",
	Doc: "Write a session as one HTML page that needs nothing else, or as JSONL. The session stays as it is.",
}, runExport)

// ExportArgs are the arguments of xcsh.export.
type ExportArgs struct {
	Subject
	Path      string `json:"path,omitempty" jsonschema:"The file to write, or an existing directory. Absent: a name after the session, in the working directory."`
	Format    string `json:"format,omitempty" jsonschema:"html or jsonl. Absent: by the path's ending, else html."`
	Overwrite bool   `json:"overwrite,omitempty" jsonschema:"Replace an existing file."`
	Open      bool   `json:"open,omitempty" jsonschema:"Show the file to the person."`
}

// ExportResult says what was written.
type ExportResult struct {
	Path  string `json:"path"`
	Bytes int64  `json:"bytes"`
}

func runExport(ctx context.Context, env *Env, a ExportArgs) (r ExportResult, err error) {
	switch a.Path {
	case "--copy", "clipboard", "copy":
		return r, fault.New(fault.InvalidArgument, "Use xcsh.dump to copy the session to the clipboard.").With("field", "path")
	}
	err = env.withSource(ctx, a.Subject, func(cwd string, sub subject) error {
		if sub.path == "" {
			return fault.New(fault.NotPersistent, "Cannot export in-memory session to HTML")
		}
		target, format, err := env.exportTarget(cwd, sub, a)
		if err != nil {
			return err
		}
		content, err := env.exportContent(sub, format)
		if err != nil {
			return err
		}
		r.Path = target
		r.Bytes, err = env.writeExport(target, a.Overwrite, content)
		return err
	})
	if err == nil && a.Open {
		env.UI.Open(ctx, r.Path, strings.HasSuffix(r.Path, ".html"))
	}
	return r, err
}

// exportTarget settles where to write and in which format.
func (env *Env) exportTarget(cwd string, sub subject, a ExportArgs) (path, format string, err error) {
	format = a.Format
	if format == "" {
		format = "html"
		if filepath.Ext(a.Path) == ".jsonl" {
			format = "jsonl"
		}
	}
	if format != "html" && format != "jsonl" {
		return "", "", fault.New(fault.InvalidArgument, "format must be html or jsonl, not %q.", a.Format).With("field", "format")
	}
	name := "xcsh-session-" + strings.TrimSuffix(filepath.Base(sub.path), ".jsonl") + "." + format
	path = filepath.Join(cwd, name)
	if a.Path != "" {
		if path, err = absolute(cwd, a.Path, "path"); err != nil {
			return "", "", err
		}
	}
	info, statErr := env.Fs.Stat(path)
	if statErr == nil && info.IsDir() {
		path = filepath.Join(path, name)
		info, statErr = env.Fs.Stat(path)
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

func (env *Env) exportContent(sub subject, format string) (func(io.Writer) error, error) {
	if format == "jsonl" {
		return func(w io.Writer) error { return writeJSONL(w, sub.doc) }, nil
	}
	doc, err := env.exportDoc(sub)
	if err != nil {
		return nil, err
	}
	options := exporter.HTMLOptions{AppName: "xcsh-ls"}
	return func(w io.Writer) error { return exporter.HTML(w, doc, options) }, nil
}

func writeJSONL(w io.Writer, d *session.Document) error {
	if _, err := w.Write(append(d.HeaderLine(), '\n')); err != nil {
		return err
	}
	for i := range d.Len() {
		e, err := d.Entry(i)
		if err != nil {
			return err
		}
		if _, err := w.Write(append(slices.Clip(e.Raw), '\n')); err != nil {
			return err
		}
	}
	return nil
}

// writeExport puts content at path, whole or not at all.
func (env *Env) writeExport(path string, overwrite bool, content func(io.Writer) error) (int64, error) {
	var n counter
	err := env.Store.WriteFile(path, overwrite, func(w io.Writer) error {
		buffered := bufio.NewWriterSize(io.MultiWriter(w, &n), 1<<16)
		if err := content(buffered); err != nil {
			return err // a failed write is remembered: Flush would only say it again
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

// exportDoc gathers what an exporter shows of a session.
func (env *Env) exportDoc(sub subject) (exporter.Doc, error) {
	built, _, err := session.BuildContext(sub.doc, sub.leaf, env.Store.BlobsFor(sub.path))
	if err != nil {
		return exporter.Doc{}, err
	}
	labels, err := sub.doc.Labels()
	if err != nil {
		return exporter.Doc{}, err
	}
	doc := exporter.Doc{
		Header: sub.doc.HeaderLine(), LeafID: sub.doc.LeafID(sub.leaf), PathIDs: map[string]bool{}, Labels: labels,
		Messages: built.Messages, Model: built.Models["default"], Title: sub.doc.Title().Text, FileName: filepath.Base(sub.path),
	}
	if built.HasThinkingLevel {
		doc.ThinkingLevel = built.ThinkingLevel
	}
	for _, i := range sub.doc.PathTo(sub.leaf) {
		doc.PathIDs[sub.doc.ID(i)] = true
	}
	doc.Entries = func(yield func(json.RawMessage, error) bool) {
		for i := range sub.doc.Len() {
			e, err := sub.doc.Entry(i)
			if !yield(e.Raw, err) || err != nil {
				return
			}
		}
	}
	return doc, nil
}
