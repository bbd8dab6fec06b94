package agentbase

import (
	"strings"
	"time"

	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
)

// isoMillis is how the TypeScript generation writes a time.
const isoMillis = "2006-01-02T15:04:05.000Z"

// formatTime writes t in that form.
func formatTime(t time.Time) string { return t.UTC().Format(isoMillis) }

// layouts are the time formats that either generation or a user may write. Times without a
// zone are read in the local zone.
var layouts = []string{
	time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999Z07:00",
	"2006-01-02 15:04:05.999999999", "2006-01-02T15:04", "2006-01-02",
}

// parseTime reads a time: a text, or a number of milliseconds since 1970. ok is false if v
// is not a time, or if the time is before 1970 or after the year 9999, which no
// conversation has.
func parseTime(v []byte, zone *time.Location) (t time.Time, ok bool) {
	if n, number := rawjson.Float(v); number {
		if n < 0 || n > 1e15 {
			return time.Time{}, false
		}
		return sensible(time.UnixMilli(int64(n)))
	}
	s, _ := rawjson.String(v)
	for _, layout := range layouts {
		if t, err := time.ParseInLocation(layout, strings.TrimSpace(s), zone); err == nil {
			return sensible(t)
		}
	}
	return time.Time{}, false
}

func sensible(t time.Time) (time.Time, bool) {
	if t = t.UTC(); t.Year() < 1970 || t.Year() > 9999 {
		return time.Time{}, false
	}
	return t, true
}
