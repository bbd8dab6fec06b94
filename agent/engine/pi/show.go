package pi

import (
	"regexp"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/session/visible"
)

// limiter bounds how much extensions show. Only the reader uses it.
type limiter struct {
	since time.Time
	count int
	keys  map[string]bool
}

// allows reports whether one more may be shown now.
func (l *limiter) allows(now time.Time) bool {
	if now.Sub(l.since) > showWindow {
		l.since, l.count = now, 0
	}
	l.count++
	return l.count <= maxShows
}

// knows reports whether a status with the key may be shown.
func (l *limiter) knows(key string) bool {
	if !l.keys[key] && len(l.keys) >= maxKeys {
		return false
	}
	if l.keys == nil {
		l.keys = map[string]bool{}
	}
	l.keys[key] = true
	return true
}

// show shows the reports of an extension that need no answer. Too many are left out.
func (e *Engine) show(r *record) {
	shown := showOf(r)
	if shown == nil {
		return
	}
	status, isStatus := shown.(event.EngineStatus)
	if !e.shows.allows(time.Now()) || isStatus && !e.shows.knows(status.Key) {
		e.log.Debug("an extension shows too much", zap.String("method", r.string(fMethod)))
		return
	}
	e.backlog.add(r.size, func() {
		if !e.report.gone {
			e.host.Emit(shown)
		}
	})
}

// showOf returns what a request shows, nil if that is nothing.
func showOf(r *record) event.Event {
	switch r.typ { // those of omp that are no requests
	case "notice":
		return noticeOf(r.string(fMessage))
	case "command_output":
		return noticeOf(r.string(fText))
	}
	switch r.string(fMethod) {
	case "open_url":
		return noticeOf("Open this address: " + r.string(fURL))
	case "notify":
		return noticeOf(r.string(fMessage))
	case "setStatus":
		return statusOf("status/"+r.string(fStatusKey), strings.Split(r.string(fStatusText), "\n"))
	case "setWidget":
		return statusOf("widget/"+r.string(fWidgetKey), r.strings(fWidgetLines, maxLines))
	case "setTitle":
		return statusOf("title", []string{r.string(fTitle)})
	case "set_editor_text":
		return event.Prefill{Text: visible.Text(cut(r.string(fText), maxPrefill))}
	}
	return nil
}

// noticeOf returns a notice, nil if it says nothing.
func noticeOf(text string) event.Event {
	if text == "" {
		return nil
	}
	return event.Notice{Text: visible.Text(plain(cut(text, maxNotice)))}
}

func statusOf(key string, lines []string) event.Event {
	s := event.EngineStatus{Key: brief(key, maxTitle)}
	for _, l := range lines[:min(len(lines), maxLines)] {
		if l != "" || len(lines) > 1 {
			s.Lines = append(s.Lines, visible.Line(plain(cut(l, maxTitle))))
		}
	}
	return s
}

// colours are the sequences with which extensions style what they show on pi's own screen.
var colours = regexp.MustCompile("\x1b\\[[0-9;:]*m")

func plain(s string) string { return colours.ReplaceAllString(s, "") }
