package guard

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// retryAfter is the delay that the service asks for. Milliseconds, which not all send, are the most
// exact; the standard has seconds, in practice with fractions, or a date.
func retryAfter(h http.Header, now time.Time) time.Duration {
	if d, ok := parseDelay(h.Get("Retry-After-Ms"), time.Millisecond); ok {
		return d
	}
	value := h.Get("Retry-After")
	if d, ok := parseDelay(value, time.Second); ok {
		return d
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}

func parseDelay(value string, unit time.Duration) (time.Duration, bool) {
	n, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
	if err != nil || math.IsNaN(n) || n < 0 {
		return 0, false
	}
	if n > float64(math.MaxInt64/unit) {
		return math.MaxInt64, true
	}
	return time.Duration(n * float64(unit)), true
}
