package lsp

import (
	"context"

	"go.lsp.dev/protocol"

	"github.com/xcsh-ls/xcsh-ls/session"
)

const (
	maxDiagnostics  = 100       // of one document
	diagnosedLength = 2000      // how many bytes of a line are underlined: a line can be megabytes
	diagnosedBy     = "xcsh-ls" // the source of our diagnostics
)

// diagnostic is a finding as the client shows it.
type diagnostic struct {
	Range    textRange `json:"range"`
	Severity int       `json:"severity"`
	Code     string    `json:"code"`
	Source   string    `json:"source"`
	Message  string    `json:"message"`
}

// The severities of diagnostics.
const (
	severityError = iota + 1
	severityWarning
	severityInformation
)

// severities are those of findings that cost no content. What does is an error.
var severities = map[session.ProblemKind]int{
	session.OrphanEntry: severityWarning, session.ParentCycle: severityWarning, session.DuplicateID: severityWarning,
	session.MissingID: severityWarning, session.NotAnEntry: severityWarning, session.ExtraHeader: severityWarning,
}

// diagnose sends the diagnostics of an open document once its newest text was looked through.
func (d *sessionDocs) diagnose(ctx context.Context, path string) {
	doc, open := d.s.documents.Lookup(path)
	if !open {
		return
	}
	v := d.version(doc)
	select {
	case <-v.done:
		if v.err == nil {
			d.tell(v)
		}
	case <-ctx.Done():
	}
}

// tell sends the diagnostics of a version that is made, once, unless there is a newer one.
func (d *sessionDocs) tell(v *versionView) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if v.told || d.byPath[v.doc.Path] != v {
		return
	}
	v.told = true
	if v.view == nil {
		d.clear(v.doc.Path)
		return
	}
	d.told[v.doc.Path] = v.doc.URI
	d.s.publish(v.doc.URI, &v.doc.Version, v.view.diagnostics())
}

// clear takes back what was sent about a document. It needs mu.
func (d *sessionDocs) clear(path string) {
	if uri, told := d.told[path]; told {
		delete(d.told, path)
		d.s.publish(uri, nil, nil)
	}
}

// publish queues textDocument/publishDiagnostics, in place of a waiting one.
func (s *server) publish(uri string, version *int64, list []diagnostic) {
	if list == nil {
		list = []diagnostic{}
	}
	s.notify(protocol.MethodTextDocumentPublishDiagnostics, struct {
		URI         string       `json:"uri"`
		Version     *int64       `json:"version,omitempty"`
		Diagnostics []diagnostic `json:"diagnostics"`
	}{uri, version, list}, protocol.MethodTextDocumentPublishDiagnostics+"\x00"+uri)
}

// diagnostics words the findings for the client.
func (v *sessionView) diagnostics() (list []diagnostic) {
	for _, f := range v.findings {
		severity := severities[f.Kind]
		switch {
		case f.Lost:
			severity = severityError
		case severity == 0:
			severity = severityInformation
		}
		to := min(f.To, f.From+diagnosedLength)
		list = append(list, diagnostic{
			Range:    textRange{v.lines.position(f.From), v.lines.position(to)},
			Severity: severity, Code: string(f.Kind), Source: diagnosedBy, Message: f.Message,
		})
	}
	return list
}
