package mcp

import (
	"fmt"
	"math"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/xcsh-ls/xcsh-ls/agent/tool"
)

// progress shows the progress of a call.
type progress struct {
	server *server
	update func(tool.Result) // may be nil

	mu   sync.Mutex
	last time.Time // of an update; guarded by mu
}

// take shows a notification, if the last one was shown long enough ago. An update without a content extends the time limit only.
func (p *progress) take(n *sdk.ProgressNotificationParams) {
	if p.update == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if now := time.Now(); now.Sub(p.last) >= updateEvery {
		p.last = now
		p.update(tool.TextResult(p.server.text(progressText(n), maxProgress)))
		return
	}
	p.update(tool.Result{})
}

// progressText returns the words of a notification, as pi shows them.
func progressText(n *sdk.ProgressNotificationParams) string {
	if m := strings.TrimSpace(n.Message); m != "" {
		return m
	}
	if n.Total > 0 {
		return fmt.Sprintf("Progress %s/%s", number(n.Progress), number(n.Total))
	}
	return "Progress " + number(n.Progress)
}

func number(f float64) string {
	if f == math.Trunc(f) {
		return fmt.Sprintf("%.0f", f)
	}
	return fmt.Sprintf("%g", f)
}
