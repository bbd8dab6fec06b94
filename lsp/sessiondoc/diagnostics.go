package sessiondoc

import (
	"context"

	"go.lsp.dev/protocol"

	"github.com/xcsh-ls/xcsh-ls/lsp/textdoc"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/visible"
)

// Source is the source of the diagnostics.
const Source = "xcsh-ls"

const (
	maxDiagnostics = 100  // of one document
	maxUnderlined  = 2000 // bytes of a line; a line may have megabytes
)

// diagnostic is a finding in the protocol's form.
type diagnostic struct {
	Range    textdoc.Range `json:"range"`
	Severity int           `json:"severity"`
	Code     string        `json:"code"`
	Source   string        `json:"source"`
	Message  string        `json:"message"`
}

// The severities of diagnostics.
const (
	severityError = iota + 1
	severityWarning
	severityInformation
)

// severities are those of findings that lose no content. One that loses content is an error.
var severities = map[session.ProblemKind]int{
	session.OrphanEntry: severityWarning, session.ParentCycle: severityWarning, session.DuplicateID: severityWarning,
	session.MissingID: severityWarning, session.NotAnEntry: severityWarning, session.ExtraHeader: severityWarning,
}

// diagnose publishes the diagnostics of an open document once the view of its newest text is made.
func (d *Docs) diagnose(ctx context.Context, path string) {
	doc, open := d.host.Document(path)
	if !open {
		return
	}
	v := d.version(doc)
	select {
	case <-v.done:
		if v.err == nil {
			d.publish(v)
		}
	case <-ctx.Done():
	}
}

// publish sends the diagnostics of a version whose view is made, once, unless there is a newer
// version.
func (d *Docs) publish(v *version) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if v.published || d.versions[v.doc.Path] != v {
		return
	}
	v.published = true
	if v.view == nil {
		d.clearLocked(v.doc.Path)
		return
	}
	d.published[v.doc.Path] = v.doc.URI
	d.send(v.doc.URI, &v.doc.Version, v.view.diagnostics())
}

// clearLocked clears the diagnostics of a document.
func (d *Docs) clearLocked(path string) {
	if uri, ok := d.published[path]; ok {
		delete(d.published, path)
		d.send(uri, nil, nil)
	}
}

// send queues textDocument/publishDiagnostics, in place of a waiting one about the same document.
func (d *Docs) send(uri string, version *int64, list []diagnostic) {
	if list == nil {
		list = []diagnostic{}
	}
	d.host.Notify(protocol.MethodTextDocumentPublishDiagnostics, struct {
		URI         string       `json:"uri"`
		Version     *int64       `json:"version,omitempty"`
		Diagnostics []diagnostic `json:"diagnostics"`
	}{uri, version, list}, protocol.MethodTextDocumentPublishDiagnostics+"\x00"+uri)
}

// diagnostics returns the findings in the protocol's form.
func (v *view) diagnostics() (list []diagnostic) {
	for _, f := range v.findings {
		severity := severities[f.Kind]
		switch {
		case f.Lost:
			severity = severityError
		case severity == 0:
			severity = severityInformation
		}
		to := min(f.To, f.From+maxUnderlined)
		list = append(list, diagnostic{
			Range:    textdoc.Range{Start: v.lines.Position(f.From), End: v.lines.Position(to)},
			Severity: severity, Code: string(f.Kind), Source: Source, Message: visible.Line(f.Message),
		})
	}
	return list
}
