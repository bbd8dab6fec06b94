package pi

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
)

// unknownClass is for a failure that does not say what it is.
const unknownClass provider.Class = "unknown"

// status finds the status number of a response in an error message. Services of pi put it first; others quote it.
var status = regexp.MustCompile(`(?:^|\bstatus(?: code)?:? |\bHTTP[ /]?(?:\d\.\d )?|\()([45]\d\d)\b`)

// failureClass returns the class of a failed request, from pi's message.
func failureClass(message string) provider.Class {
	message = cut(message, maxNotice)
	if found := status.FindStringSubmatch(message); found != nil {
		code, _ := strconv.Atoi(found[1])
		return statusClass(code)
	}
	lower := strings.ToLower(message)
	for _, known := range []struct {
		text  string
		class provider.Class
	}{
		{"overloaded", provider.Overloaded},
		{"rate limit", provider.RateLimit},
		{"timed out", provider.Timeout},
		{"timeout", provider.Timeout},
		{"econnre", provider.Network},
		{"enotfound", provider.Network},
		{"fetch failed", provider.Network},
		{"socket", provider.Network},
		{"connection error", provider.Network},
		{"terminated", provider.Truncated},
		{"ended before", provider.Truncated},
	} {
		if strings.Contains(lower, known.text) {
			return known.class
		}
	}
	return unknownClass
}

func statusClass(code int) provider.Class {
	switch code {
	case 401, 403:
		return provider.Auth
	case 402:
		return provider.Quota
	case 408, 504:
		return provider.Timeout
	case 413:
		return provider.ContextOverflow
	case 429:
		return provider.RateLimit
	case 503, 529:
		return provider.Overloaded
	}
	if code >= 500 {
		return provider.Server
	}
	return provider.InvalidRequest
}
