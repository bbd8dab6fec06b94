package agent

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/history"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// History returns the prompt history, or nil if there is none.
func (m *Manager) History() *history.Store { return m.cfg.History }

// historyPrompt returns a prompt as the history stores it, and the history. The history is nil for
// an in-memory session, whose prompts are not stored.
func (s *Session) historyPrompt(log *session.Log, in Input) (*history.Store, history.Prompt) {
	p := history.Prompt{Text: cmp.Or(in.Typed, in.Text), Cwd: s.cwd, SessionID: log.Header().ID}
	if !log.Persistent() {
		return nil, p
	}
	return s.m.cfg.History, p
}

// offerUnanswered reports the prompts of the folder whose turns ended with their process.
func (s *Session) offerUnanswered() {
	entries := s.m.cfg.History.Offer(s.cwd)
	s.mu.Lock()
	s.offers = entries
	s.mu.Unlock()
	for _, e := range entries {
		s.Report(notice(fmt.Sprintf("The prompt from %s was not answered because the program ended. It is the newest prompt in the history: %s",
			e.Created.Local().Format("2006-01-02 15:04"), beginning(e.Prompt))))
	}
}

// Offers returns, once, the prompts that were reported as never answered when the session
// was opened. It is for clients that see no event before that and have no prompt history.
func (s *Session) Offers() []history.Entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	entries := s.offers
	s.offers = nil
	return entries
}

// beginning is the first line of a prompt, or as much of it as fits a message.
func beginning(prompt string) string {
	const most = 100 // UTF-16 code units
	line, rest, _ := strings.Cut(prompt, "\n")
	if short := rawjson.UTF16Prefix(line, most); short != line || rest != "" {
		return short + "…"
	}
	return line
}
