package commands

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"iter"
	"path/filepath"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// WriteExport writes the content of xcsh.export to w instead of a file, while it reads the session, so that it needs little
// memory. Path, Overwrite and Open are ignored, and the result has no path. A failure may leave part of the content in w.
func WriteExport(ctx context.Context, env *Env, a ExportArgs, w io.Writer) (r ExportResult, err error) {
	if err := a.check(); err != nil {
		return r, err
	}
	if a.RegisterInIndex {
		return r, fault.New(fault.InvalidArgument, "registerInIndex needs a file.").With("field", "registerInIndex")
	}
	a.Path = ""
	job := newExportJob(env, exportStyle{theme: a.Theme, redact: unlessFalse(a.Redact), doubtful: a.Doubtful == doubtfulReplace})
	job.to = w
	if job.style.format, err = exportFormat(a); err != nil {
		return r, err
	}
	err = env.withSource(ctx, a.Subject, func(sub subject) (err error) {
		if job.style.format == agentBase {
			r, err = job.toAgentBase(ctx, job.agentBaseName(sub), sub, a)
		} else {
			r, err = job.write(ctx, "", sub)
		}
		return err
	})
	r.Path, r.Unlisted, r.Note = "", false, "" // only a file can be in an index
	return r, err
}

// writeTo writes content to job.to. It stops when ctx ends.
func (job exportJob) writeTo(ctx context.Context, content func(io.Writer) error) (int64, error) {
	var n counter
	buffered := bufio.NewWriterSize(io.MultiWriter(job.to, &n), 1<<16)
	err := content(untilDone(ctx, buffered))
	if err == nil {
		err = buffered.Flush()
	}
	return int64(n), err
}

// HasExportExtension reports whether the extension of path stands for a format of exports.
func HasExportExtension(path string) bool {
	_, ok := formats[strings.ToLower(filepath.Ext(path))]
	return ok
}

// counted returns lines that report how many of them were read: of a document that is read passes times, each time total lines.
func (job exportJob) counted(lines iter.Seq2[json.RawMessage, error], passes, total int) iter.Seq2[json.RawMessage, error] {
	if job.reading == nil || lines == nil {
		return lines
	}
	before := 0 // lines of earlier passes
	return func(yield func(json.RawMessage, error) bool) {
		n := before
		before += total
		for raw, err := range lines {
			n++
			job.reading(min(n, before), passes*total)
			if !yield(raw, err) {
				return
			}
		}
	}
}

// exportPasses returns how often the lines of a document are read to write it.
func exportPasses(format string, redacted bool) int {
	passes := 1
	if format == agentBase || format == "markdown" {
		passes++ // for the numbers at the beginning
	}
	if redacted {
		passes++ // to find the secrets
	}
	return passes
}
