package session

import (
	"strconv"
	"strings"
	"time"

	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
)

// isoMillis is JavaScript's Date.toISOString layout.
const isoMillis = "2006-01-02T15:04:05.000Z"

// FormatTime writes t the way the programs do: ISO 8601, UTC, milliseconds.
func FormatTime(t time.Time) string {
	t = t.UTC()
	year, month, day := t.Date()
	if year < 0 || year > 9999 {
		return t.Format(isoMillis)
	}
	hour, minute, second := t.Clock()
	b := [len(isoMillis)]byte([]byte("0000-00-00T00:00:00.000Z")) // Format is five times as slow, which a long list feels
	putDigits(b[0:4], year)
	putDigits(b[5:7], int(month))
	putDigits(b[8:10], day)
	putDigits(b[11:13], hour)
	putDigits(b[14:16], minute)
	putDigits(b[17:19], second)
	putDigits(b[20:23], t.Nanosecond()/int(time.Millisecond))
	return string(b[:])
}

// putDigits fills b with the last decimal digits of n.
func putDigits(b []byte, n int) {
	for i := len(b) - 1; i >= 0; i-- {
		b[i] = '0' + byte(n%10)
		n /= 10
	}
}

// ParseTime reads an entry's or header's timestamp. The programs write
// [FormatTime]'s form; other forms that JavaScript's Date takes are understood
// where they are unambiguous.
func ParseTime(s string) (t time.Time, ok bool) {
	for _, layout := range []string{isoMillis, time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02T15:04", "2006-01-02"} {
		if t, err := time.Parse(layout, strings.TrimSpace(s)); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}

// millis returns the JSON of a synthesised message's timestamp: the entry's time in unix
// milliseconds, or null if it cannot be parsed, as JSON.stringify writes NaN. A number is
// taken as milliseconds already.
func millis(e Entry) []byte {
	if n := rawjson.Get(e.Raw, "timestamp"); rawjson.Kind(n) == '0' {
		return n
	}
	t, ok := ParseTime(e.Timestamp)
	if !ok {
		return []byte("null")
	}
	return strconv.AppendInt(nil, t.UnixMilli(), 10)
}

// ISOTime converts a header's timestamp to [FormatTime]'s form. It returns s unchanged if
// it cannot be parsed.
func ISOTime(s string) string {
	if t, ok := ParseTime(s); ok {
		return FormatTime(t)
	}
	return s
}
