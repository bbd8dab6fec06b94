package agent

import (
	"regexp"

	"github.com/xcsh-ls/xcsh-ls/agent/convert"
	"github.com/xcsh-ls/xcsh-ls/agent/imaging"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// rejectedImages are images that a service rejected: those of messages up to a time. Which one it
// rejected, services do not say. The file keeps them all.
type rejectedImages struct {
	log   *session.Log
	until int64 // milliseconds since 1970
}

const imageRejected = "the model service rejected an image"

// messages returns the conversation for a request, with images that the service accepts.
func (h *host) messages(c session.Context) []provider.Message {
	all := convert.Messages(c.Messages)
	h.s.mu.Lock()
	rejected := h.s.rejected
	h.s.mu.Unlock()
	if rejected.log == h.log {
		all, _ = imaging.Without(all, rejected.until, imageRejected)
	}
	return h.s.m.images.Messages(all)
}

var aboutImages = regexp.MustCompile(`(?i)image|vision|media|base64|pixel|dimension`)

// WithoutImages leaves the images so far out of the requests, if the service rejected one of them.
func (h *host) WithoutImages(cause *provider.Error) (changed bool) {
	if cause.Class != provider.InvalidRequest || !aboutImages.MatchString(cause.Message) {
		return false
	}
	c, _, err := h.log.Context()
	if err != nil {
		return false
	}
	now := h.s.m.now().UnixMilli()
	all := h.messages(c)
	if _, found := imaging.Without(all, now, ""); !found {
		return false
	}
	h.s.mu.Lock()
	defer h.s.mu.Unlock()
	h.s.rejected = rejectedImages{h.log, now}
	return true
}
