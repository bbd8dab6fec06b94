package guard

import (
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
)

// The wording of errors whose status is not specific. The expressions are matched against type,
// code and message.
var (
	overflowWords = regexp.MustCompile(`(?i)prompt is too long|request_too_large|input is too long for requested model|` +
		`exceeds the context window|input token count.*exceeds the maximum|maximum prompt length is \d+|` +
		`reduce the length of the messages|maximum context length|exceeds the limit of \d+|` +
		`exceeds the available context size|greater than the context length|context window exceeds limit|` +
		`exceeded model token limit|model_context_window_exceeded|prompt too long; exceeded|` +
		`context[_ ]length[_ ]exceeded|context_window_exceeded|exceeds? (the )?(model'?s )?(maximum )?context|too many tokens|token limit exceeded`)
	quotaWords = regexp.MustCompile(`(?i)insufficient[_ ](quota|balance|credit|fund)|exceeded your current quota|credit balance|` +
		`billing|out of credits?|not enough credits?|requires more credits|payment required|usage[_ ]limit|` +
		`usage_not_included|(monthly|weekly|daily|spend(ing)?)[_ ](\w+ )?(limit|quota|cap)|quota (has been )?exceeded|arrears`)
	limitWords    = regexp.MustCompile(`(?i)rate[_ -]?limit|too[_ ]many[_ ]requests|throttl|slow_down|resource_exhausted`)
	overloadWords = regexp.MustCompile(`(?i)overload|high demand|at capacity|no capacity|capacity exceeded|temporarily unavailable|unavailable`)
	authWords     = regexp.MustCompile(`(?i)authentication_error|permission_error|permission_denied|invalid[_ ]api[_ ]key|unauthenticated|unauthorized|api key not valid`)
	refusedWords  = regexp.MustCompile(`(?i)content[_ ](policy|filter)|moderation|safety system|cyber_policy|responsible ?ai|refusal`)
	invalidWords  = regexp.MustCompile(`(?i)invalid_request|invalid_prompt|not_found|model_not_found|unsupported|invalid_argument|failed_precondition`)
	timeoutWords  = regexp.MustCompile(`(?i)timeout_error|timed out|deadline_exceeded`)
)

// class sorts the problem. The service's wording takes precedence over its status: an empty account
// is 429 here and 400 there, and an error within a stream has status 200.
func (p *Problem) class(status int) provider.Class {
	text := strings.Join([]string{p.Type, p.Code, p.Message}, "\n")
	named := p.Type + "\n" + p.Code
	limited := limitWords.MatchString(text)
	switch {
	case status == http.StatusTooManyRequests && p.details.passing():
		return provider.RateLimit // Google's text is about a quota, too
	case status == http.StatusRequestEntityTooLarge, !limited && status < 500 && status != http.StatusTooManyRequests && overflowWords.MatchString(text):
		return provider.ContextOverflow
	case status == http.StatusPaymentRequired, status < 500 && quotaWords.MatchString(text):
		return provider.Quota
	case status == http.StatusUnauthorized:
		return provider.Auth
	case refusedWords.MatchString(text) && status < 500:
		return provider.Refused
	case status == http.StatusForbidden:
		return provider.Auth
	case status == http.StatusTooManyRequests, limitWords.MatchString(named):
		return provider.RateLimit
	case status == http.StatusServiceUnavailable, status == 529, overloadWords.MatchString(named):
		return provider.Overloaded
	case status >= 500 && overloadWords.MatchString(p.Message):
		return provider.Overloaded
	case status >= 500, status == http.StatusRequestTimeout:
		return provider.Server
	case authWords.MatchString(text):
		return provider.Auth
	case slices.Contains([]int{http.StatusConflict, http.StatusTooEarly}, status):
		return provider.Server
	case status >= 400, invalidWords.MatchString(named):
		return provider.InvalidRequest
	case limited:
		return provider.RateLimit
	case overloadWords.MatchString(text):
		return provider.Overloaded
	case timeoutWords.MatchString(text):
		return provider.Server
	default:
		return provider.Server // within a stream, without a known word
	}
}
