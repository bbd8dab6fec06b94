package agent

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"regexp"
	"slices"

	"github.com/xcsh-ls/xcsh-ls/agent/configured"
	"github.com/xcsh-ls/xcsh-ls/agent/convert"
	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/agent/imaging"
	"github.com/xcsh-ls/xcsh-ls/agent/memo"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/visible"
)

// rejected is the content that a service rejected: that of messages up to a time, in milliseconds since
// 1970. Which image or signature it rejected, services do not always say. The file keeps it all.
type rejected struct {
	log              *session.Log
	images, thinking int64

	history bool // every one that the service compacted itself
}

const imageRejected = "the model service rejected an image"

// rejected returns the content that is left out of the requests of the conversation.
func (h *host) rejected() rejected {
	h.s.mu.Lock()
	defer h.s.mu.Unlock()
	if h.s.rejected.log != h.log {
		return rejected{log: h.log}
	}
	return h.s.rejected
}

// messages returns the conversation for a request to a model, with content that the service accepts. unsigned
// reports that the thinking that led to the last tool call is left out.
func (h *host) messages(ctx context.Context, c session.Context, model provider.Model) (all []provider.Message, unsigned bool) {
	no := h.rejected()
	without := memo.Without{Images: no.images, Thinking: no.thinking, Reason: imageRejected}
	if configured.BlocksImages(h.found(ctx)) {
		without.Images, without.Reason = math.MaxInt64, "the setting images.blockImages is on"
	}
	r := h.s.memo(h.log).Request(c.Messages, model, without)
	return h.withHistory(r), no.thinking > 0 && r.Last == provider.RoleToolResult
}

// sendable returns the messages whose content the service has not rejected yet.
func (no rejected) sendable(c session.Context) []provider.Message {
	all := convert.Messages(c.Messages)
	if no.images > 0 {
		all, _ = imaging.Without(all, no.images, imageRejected)
	}
	if no.thinking > 0 {
		all, _ = provider.WithoutThinking(all, no.thinking)
	}
	return all
}

var (
	aboutImages   = regexp.MustCompile(`(?i)image|vision|media|base64|pixel|dimension`)
	aboutThinking = regexp.MustCompile(`(?i)signature|thinking|thought|reasoning|encrypted`)
	aboutHistory  = regexp.MustCompile(`(?i)encrypted|compact`)
)

// Repair leaves content that the service rejected out of the requests, if a request without it may
// succeed: the images so far, the thinking so far, whose signatures another service or model may have
// made, or histories that the service compacted itself, perhaps for another account.
//
// After an answer that was stopped because of a rule it adds the rule to the conversation.
func (h *host) Repair(cause *provider.Error) (notice string, repaired bool) {
	if cause.Class == provider.RuleMatched {
		return h.inject()
	}
	if cause.Class != provider.InvalidRequest {
		return "", false
	}
	c, _, err := h.log.Context()
	if err != nil {
		return "", false
	}
	no, now := h.rejected(), h.s.m.now().UnixMilli()
	all := h.s.m.images.Messages(no.sendable(c))
	_, images := imaging.Without(all, now, "")
	_, thinking := provider.WithoutThinking(all, now)
	switch {
	case images && aboutImages.MatchString(cause.Message):
		no.images, notice = now, "The model service rejected an image. The images so far are left out of requests: "
	case h.history && (aboutHistory.MatchString(cause.Message) || !thinking || !aboutThinking.MatchString(cause.Message)):
		no.history, notice = true, "The model service rejected its own record of the compacted conversation. The summary is sent instead: "
	case thinking && aboutThinking.MatchString(cause.Message):
		no.thinking, notice = now, "The model service rejected earlier thinking of the model. The thinking so far is left out of requests: "
	default:
		return "", false
	}
	h.s.mu.Lock()
	defer h.s.mu.Unlock()
	h.s.rejected = no
	return notice + cause.Error(), true
}

// Rejected returns the entry that the service rejected, as far as it is known, and the ways to continue
// without it. request are the messages that were sent.
func (h *host) Rejected(cause *provider.Error, request []provider.Message) *event.Rejection {
	if cause.Class != provider.InvalidRequest || !slices.Contains([]int{0, http.StatusBadRequest, http.StatusUnprocessableEntity}, cause.Status) {
		return nil
	}
	r := new(event.Rejection)
	prompt, what := "", "" // the id of the prompt to go back to, and the rejected entry in words
	if err := h.log.View(func(d *session.Document, leaf session.Leaf) (err error) {
		r.EntryID, prompt, what, err = rejectedEntry(d, leaf, cause, request)
		return err
	}); err != nil {
		return nil // without the entries there is nothing to offer
	}
	back, before := "Go Back Before the Last Prompt", "the last prompt"
	if what != "" {
		r.Message, back, before = " The rejected entry is "+what+".", "Go Back Before the Rejected Turn", "its prompt"
	}
	if prompt != "" {
		r.Actions = append(r.Actions, event.Action{Title: back, Command: "xcsh.branch", Arguments: map[string]any{"entryId": prompt}})
	}
	r.Actions = append(r.Actions,
		event.Action{Title: "Compact the Conversation", Command: "xcsh.compact", Arguments: map[string]any{}},
		event.Action{Title: "Choose Another Model…", Command: "xcsh.setModel", Arguments: map[string]any{}})
	r.Message += " To continue, go back before " + before + ", compact the conversation or choose another model."
	return r
}

// rejectedEntry returns the entry of the rejected message, "" if it is not known, and the prompt of its
// turn: the newest one if it is not known.
func rejectedEntry(d *session.Document, leaf session.Leaf, cause *provider.Error, request []provider.Message) (id, prompt, what string, err error) {
	at := provider.Locate(request, cause.Part)
	for _, i := range slices.Backward(d.PathTo(leaf)) {
		e, err := d.Entry(i)
		if err != nil {
			return "", "", "", err
		}
		if e.Role() == "" {
			continue
		}
		if at >= 0 && id == "" {
			m, err := provider.DecodeMessage(e.Message())
			if err == nil && sameMessage(m, request[at]) {
				id, what = e.ID, describe(m)
			}
		}
		if prompt == "" && e.Role() == provider.RoleUser {
			prompt = e.ID
		}
		if id != "" && e.Role() == provider.RoleUser {
			return id, e.ID, what, nil
		}
		if at < 0 && prompt != "" {
			break
		}
	}
	if id == "" {
		what = ""
	}
	return id, prompt, what, nil
}

// sameMessage reports whether a message of a request was made of one of the session. Its ids and blocks
// may differ.
func sameMessage(stored, sent provider.Message) bool {
	return stored.Role == sent.Role && stored.Timestamp == sent.Timestamp && stored.ToolName == sent.ToolName &&
		(sent.PlainText() == stored.PlainText() || stored.Role == provider.RoleAssistant)
}

// describe names a message for the user.
func describe(m provider.Message) string {
	switch m.Role {
	case provider.RoleToolResult:
		return fmt.Sprintf("the result of %s", visible.Line(m.ToolName))
	case provider.RoleAssistant:
		return "an answer of the model"
	default:
		return fmt.Sprintf("the prompt %q", visible.Line(beginning(m.PlainText())))
	}
}

// withRejection adds to the error of a turn what the user can do about a rejected entry.
func withRejection(err error, r *event.Rejection) error {
	f, ok := err.(*fault.Error) //nolint:errorlint // made by providerFault
	if !ok || r == nil {
		return err
	}
	if r.EntryID != "" {
		f = f.With("entryId", r.EntryID)
	}
	return f.With("actions", r.Actions)
}
