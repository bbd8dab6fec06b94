package agent

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/xcsh-ls/xcsh-ls/agent/compaction"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/paging"
)

// addNewest is addContext for the newest messages.
func (s *Session) addNewest(ctx context.Context, snap *Snapshot, log *session.Log, last int, history bool) error {
	var tokens int
	var state session.ContextState
	err := log.View(func(d *session.Document, leaf session.Leaf) error {
		blobs := s.m.cfg.Store.BlobsFor(log.Path())
		c, err := paging.Open(d, leaf, blobs)
		if err != nil {
			return err
		}
		newest, err := c.Before(c.Len(), paging.Limits{Items: last, Bytes: paging.MaxBytes})
		if err != nil {
			return err
		}
		snap.Messages, snap.Older, state = newest.Messages, c.Older(newest.From), c.State.State()
		if history {
			whole, err := paging.OpenHistory(d, leaf, blobs)
			if err != nil {
				return err
			}
			snap.Older = whole.Older(whole.Len() - c.Len() + newest.From)
		}
		if snap.Todos, err = todosOn(d, leaf); err != nil {
			return err
		}
		tokens, err = tokensOf(c.Conversation)
		return err
	})
	if err == nil {
		snap.Context = s.contextUsage(ctx, log, tokens, state)
	}
	return err
}

// headMessages is how many messages a context may have in front of those of its entries: notes, a system message and a summary.
const headMessages = 3

// tokensOf is [compaction.Tokens] for a conversation. It reads the messages from the newest one back to the last answer with a
// count that still holds.
func tokensOf(c session.Conversation) (tokens int, err error) {
	var known []json.RawMessage // the summary of a compaction, which decides whether a count holds
	for place := range min(len(c.Places), headMessages) {
		m, err := c.Message(place)
		if err != nil {
			return 0, err
		}
		if isSummary(m) {
			known = append(known, m)
			break
		}
	}
	counts := true
	for place := range slices.Backward(c.Places) {
		m, err := c.Message(place)
		if err != nil {
			return 0, err
		}
		if m == nil {
			continue
		}
		counts = counts && !isSummary(m)
		if counts {
			if counted, holds := compaction.Tokens(append(slices.Clip(known), m)); holds {
				return tokens + counted, nil
			}
		}
		tokens += compaction.Estimate(m)
	}
	return tokens, nil
}

func isSummary(m json.RawMessage) bool {
	role, _ := rawjson.GetString(m, "role")
	return role == "compactionSummary"
}
