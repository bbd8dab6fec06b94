package agent

import (
	"context"
	"encoding/json"

	"github.com/xcsh-ls/xcsh-ls/agent/approval"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/agent/web"
	"github.com/xcsh-ls/xcsh-ls/session/visible"
)

// reach asks for permission to read from a web site, for a call of read.
func (h *host) reach(ctx context.Context, call string, site web.Site) error {
	args, err := json.Marshal(map[string]string{"path": site.URL})
	if err != nil {
		return err
	}
	title := "Read " + visible.Line(site.URL)
	switch {
	case site.At != "":
		title += ", at " + site.At + " in a private network"
	case site.Private:
		title += ", on this machine or in a private network"
	}
	_, err = h.s.gate.Ask(ctx, approval.Request{
		ID: call, Tool: "read", Args: args, Site: site.Origin, Private: site.Private, Preview: tool.Preview{Title: title},
	})
	return err
}
