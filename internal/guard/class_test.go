package guard

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
)

// google is Google's error for every kind of limit, with details.
func google(details string) string {
	return `[{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"You exceeded your current quota, please check your plan and billing details.","details":[` + details + `]}}]`
}

// The texts are those of the services; a status of 200 is an error within a stream.
func TestClasses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status int
		body   string
		want   provider.Class
	}{
		{400, `{"error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}`, provider.ContextOverflow},
		{400, `{"error":{"type":"invalid_request_error","message":"input length and max_tokens exceed context limit: 199000 + 21333 > 200000"}}`, provider.ContextOverflow},
		{413, `{"error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}`, provider.ContextOverflow},
		{413, ``, provider.ContextOverflow},
		{400, `{"error":{"code":"context_length_exceeded","message":"maximum context length is 8192 tokens"}}`, provider.ContextOverflow},
		{400, `{"error":{"message":"Your input exceeds the context window of this model."}}`, provider.ContextOverflow},
		{400, `{"error":{"message":"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."}}`, provider.ContextOverflow},
		{400, `{"error":{"message":"This model's maximum prompt length is 131072 but the request contains 537812 tokens."}}`, provider.ContextOverflow},
		{400, `{"error":{"message":"Please reduce the length of the messages or completion."}}`, provider.ContextOverflow},
		{400, `{"error":{"message":"the request exceeds the available context size. try increasing the context size"}}`, provider.ContextOverflow},
		{400, `{"error":"The number of tokens to keep from the initial prompt is greater than the context length."}`, provider.ContextOverflow},
		{200, `{"error":{"code":"context_length_exceeded","message":"Your input exceeds the context window"}}`, provider.ContextOverflow},
		{429, `{"error":{"message":"Rate limit reached: too many tokens per minute"}}`, provider.RateLimit},

		{429, `{"error":{"type":"insufficient_quota","code":"insufficient_quota","message":"You exceeded your current quota"}}`, provider.Quota},
		{400, `{"error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the Anthropic API."}}`, provider.Quota},
		{402, `{"error":{"message":"Insufficient credits","code":402}}`, provider.Quota},
		{403, `{"error":{"message":"Insufficient Balance"}}`, provider.Quota},
		{429, `{"error":{"type":"usage_limit_reached","message":"The usage limit has been reached"}}`, provider.Quota},
		{400, `{"error":{"type":"billing_error","message":"Billing is not active"}}`, provider.Quota},

		{429, ``, provider.RateLimit},
		{429, `{"error":{"status":"RESOURCE_EXHAUSTED","message":"Resource has been exhausted"}}`, provider.RateLimit},
		{200, `{"error":{"type":"rate_limit_error","message":"slow"}}`, provider.RateLimit},
		{200, `{"error":{"code":429,"message":"upstream"}}`, provider.RateLimit},

		{429, `{"message":"Too many tokens, please wait before trying again."}`, provider.RateLimit},
		{429, google(`{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"34.07s"}`), provider.RateLimit},
		{429, google(`{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaId":"GenerateRequestsPerDayPerProjectPerModel-FreeTier"}]},{"retryDelay":"9s"}`), provider.Quota},
		{429, google(`"not an object",{"retryDelay":7},{"retryDelay":"soon"}`), provider.Quota},
		{429, google(`{"violations":[{"quotaId":"GenerateRequestsPerMinute"}]},{"retryDelay":"9s"}`), provider.RateLimit},
		{403, google(`{"retryDelay":"9s"}`), provider.Quota},
		{400, `{"error":{"code":400,"status":"INVALID_ARGUMENT","message":"API key not valid. Please pass a valid API key."}}`, provider.Auth},
		{400, `{"error":{"code":400,"status":"FAILED_PRECONDITION","message":"User location is not supported for the API use."}}`, provider.InvalidRequest},
		{500, `{"error":{"code":500,"status":"INTERNAL","message":"An internal error has occurred."}}`, provider.Server},
		{200, `{"error":{"code":503,"status":"UNAVAILABLE","message":"The model is overloaded. Please try again later."}}`, provider.Overloaded},
		{504, `{"error":{"code":504,"status":"DEADLINE_EXCEEDED","message":"Deadline expired before operation could complete."}}`, provider.Server},

		{529, `{"error":{"type":"overloaded_error","message":"Overloaded"}}`, provider.Overloaded},
		{503, ``, provider.Overloaded},
		{500, `{"error":{"message":"The engine is currently overloaded"}}`, provider.Overloaded},
		{200, `{"error":{"type":"overloaded_error","message":"Overloaded"}}`, provider.Overloaded},
		{200, `{"error":{"message":"Provider returned error","code":503}}`, provider.Overloaded},
		{200, `{"error":{"code":"server_is_overloaded","message":"Our servers are currently overloaded"}}`, provider.Overloaded},

		{500, `{"error":{"type":"api_error","message":"Internal server error"}}`, provider.Server},
		{502, `<html><body><h1>502 Bad Gateway</h1></body></html>`, provider.Server},
		{524, ``, provider.Server},
		{408, ``, provider.Server},
		{409, ``, provider.Server},
		{200, `{"error":{"type":"api_error","message":"Internal server error"}}`, provider.Server},
		{200, `{"error":{"code":"server_error","message":"An error occurred"}}`, provider.Server},
		{200, `{"error":{"type":"timeout_error","message":"Request timed out"}}`, provider.Server},
		{200, `{"error":{}}`, provider.Server},

		{401, `{"error":{"type":"authentication_error","message":"invalid x-api-key"}}`, provider.Auth},
		{401, ``, provider.Auth},
		{403, `{"error":{"type":"permission_error","message":"no access"}}`, provider.Auth},
		{400, `[{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT"}}]`, provider.Auth},

		{400, `{"error":{"code":"content_policy_violation","message":"rejected by the safety system"}}`, provider.Refused},
		{403, `{"error":{"message":"input was flagged by moderation"}}`, provider.Refused},

		{400, `{"error":{"type":"invalid_request_error","message":"messages: Field required"}}`, provider.InvalidRequest},
		{404, `{"error":"model 'x' not found"}`, provider.InvalidRequest},
		{404, `page not found`, provider.InvalidRequest},
		{422, `{"detail":[{"loc":["body"],"msg":"field required"}]}`, provider.InvalidRequest},
		{200, `{"error":{"type":"invalid_request_error","message":"bad"}}`, provider.InvalidRequest},
	} {
		p, _ := parseProblem([]byte(c.body))
		status := c.status
		if status == 200 && p.Status > 0 {
			status = p.Status
		}
		require.Equal(t, c.want, p.class(status), "%d %s", c.status, c.body)
	}
}

func TestProblems(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]Problem{
		`{"type":"error","error":{"type":"t","message":"m"},"request_id":"r"}`: {Type: "t", Message: "m", RequestID: "r"},
		`{"error":{"message":"m","type":"t","param":null,"code":"c"}}`:         {Type: "t", Code: "c", Message: "m"},
		`{"error":{"message":"m","code":503}}`:                                 {Status: 503, Message: "m"},
		`{"error":{"message":"m","code":7}}`:                                   {Message: "m"},
		`{"error":"m"}`:                                                        {Message: "m"},
		`{"message":"m","type":"t"}`:                                           {Type: "t", Message: "m"},
		`{"detail":"m"}`:                                                       {Message: "m"},
		`{"error":{"message":"Provider returned error","metadata":{"raw":"{\"detail\":\"why\"}"}}}`: {Message: `Provider returned error: {"detail":"why"}`},
		`[{"error":{"message":"m","status":"S"}}]`:                                                  {Type: "S", Message: "m"},
	} {
		got, known := parseProblem([]byte(body))
		require.True(t, known, body)
		require.Equal(t, want, *got, body)
	}
	for _, body := range []string{``, `x`, `{}`, `[]`, `null`, `"s"`, `{"choices":[]}`} {
		_, known := parseProblem([]byte(body))
		require.False(t, known, body)
	}
}

func TestWords(t *testing.T) {
	t.Parallel()
	require.Equal(t, "Sign in Hello & welcome", words([]byte("<!-- x --><title>Sign in</title><script>if (a<b) {}</script>\n"+
		"<style>\np{}\n</style><h1>Hello\n &amp; welcome</h1>")))
	require.Equal(t, "a < b and c > d", words([]byte("a < b and c > d")), "a text is no page")
	long := words([]byte(strings.Repeat("wörd", 500)))
	require.Len(t, []rune(long), 401)
	require.NotContains(t, words([]byte("a\xffb")), "\uFFFD")
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, c := range []struct {
		ms, after string
		want      time.Duration
	}{
		{"", "", 0},
		{"", "7", 7 * time.Second},
		{"", "0.25", 250 * time.Millisecond},
		{"1500", "7", 1500 * time.Millisecond},
		{"nonsense", "7", 7 * time.Second},
		{"", "Fri, 02 Jan 2026 03:05:05 GMT", time.Minute},
		{"", "Fri, 02 Jan 2026 03:00:00 GMT", 0},
		{"", "-1", 0},
		{"", "NaN", 0},
		{"", "1e300", 1<<63 - 1},
		{"", "soon", 0},
	} {
		h := http.Header{}
		h.Set("Retry-After-Ms", c.ms)
		h.Set("Retry-After", c.after)
		require.Equal(t, c.want, retryAfter(h, now), "%+v", c)
	}
}
