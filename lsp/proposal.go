package lsp

import (
	"context"
	"fmt"
	"strings"

	"go.lsp.dev/uri"
	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/session/visible"
)

// The longest diff of a proposed change, in bytes: in a document, and in a message box.
const (
	maxProposal      = 1 << 20
	maxProposalAsked = 2000
)

// showProposal shows the diff of a proposed change before the question about it. shown is the end of the question for an
// editor that opens no documents. The caller must call remove after the answer.
func (s *server) showProposal(ctx context.Context, r agent.Approval) (shown string, remove func()) {
	diff := r.Preview.Diff
	if diff == "" || r.EndsPlan { // the question contains the plan
		return "", func() {}
	}
	if s.client.showDocument {
		file, err := s.newInputFile("proposed change", ".diff", []byte(cutProposal(visible.Text(diff), maxProposal)))
		if err == nil && s.showDocument(ctx, uri.File(file.path), false) {
			return "", func() { s.endInput(file) }
		}
		if err == nil {
			s.endInput(file)
		} else {
			s.log.Warn("a proposed change could not be shown", zap.Error(err))
		}
	}
	return "\n" + cutProposal(visible.Text(diff), maxProposalAsked), func() {}
}

// cutProposal returns the beginning of a diff that is too long, up to the end of a line.
func cutProposal(diff string, limit int) string {
	if len(diff) <= limit {
		return diff
	}
	head := strings.ToValidUTF8(diff[:limit], "")
	if i := strings.LastIndexByte(head, '\n'); i > 0 {
		head = head[:i]
	}
	return fmt.Sprintf("%s\n… %d more bytes", head, len(diff)-len(head))
}
