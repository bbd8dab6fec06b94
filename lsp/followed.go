package lsp

import (
	"context"

	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/lsp/conn"
)

var _ commands.FollowUI = clientUI{}

// ShowFollowed shows a session of the team's store as a document whose text the client requests.
func (ui clientUI) ShowFollowed(ctx context.Context, uri string) bool {
	if !ui.s.client.textDocumentContent || !ui.s.client.showDocument {
		return false
	}
	return ui.s.showContent(ctx, uri)
}

// followedText returns the text of a followed session.
func (s *server) followedText(ctx context.Context, p textParams) (any, error) {
	text, err := s.follows.Text(ctx, p.URI)
	if err != nil {
		return nil, err
	}
	return conn.EncodeJSON(map[string]string{"text": text})
}

// followedChanged notifies the client that the document of a followed session has changed.
func (s *server) followedChanged(uri string) {
	if s.client.textDocumentContent {
		s.refresh(uri)
	}
}
