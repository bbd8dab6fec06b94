package providertest

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/url"
	"regexp"
	"strings"
)

// AmazonKey and AmazonSecret are the credentials that the server accepts signatures of.
const (
	AmazonKey    = "AKIAFAKEFAKEFAKE"
	AmazonSecret = "the/secret+of-the-fake"
)

var authorization = regexp.MustCompile(`^AWS4-HMAC-SHA256 Credential=([^/]+)/(\d{8})/([a-z0-9-]+)/bedrock/aws4_request, SignedHeaders=([a-z0-9;-]+), Signature=([0-9a-f]{64})$`)

// signedByAmazon checks the signature of a request by Amazon's rules, version 4. A bearer token takes its
// place.
func signedByAmazon(r *http.Request, body []byte) error {
	if strings.HasPrefix(r.Header.Get("Authorization"), "Bearer ") {
		return nil
	}
	no := &refusal{http.StatusForbidden, "AccessDeniedException", "", "The request signature we calculated does not match the signature you provided."}
	parts := authorization.FindStringSubmatch(r.Header.Get("Authorization"))
	if parts == nil || parts[1] != AmazonKey || !strings.Contains(";"+parts[4]+";", ";host;") {
		return no
	}
	day, region, signed := parts[2], parts[3], parts[4]
	path := strings.Split(r.URL.EscapedPath(), "/")
	for i, segment := range path {
		path[i] = strings.ReplaceAll(url.QueryEscape(segment), "+", "%20")
	}
	canonical := []string{r.Method, strings.Join(path, "/"), r.URL.RawQuery}
	for name := range strings.SplitSeq(signed, ";") {
		value := r.Header.Get(name)
		if name == "host" {
			value = r.Host
		}
		canonical = append(canonical, name+":"+strings.TrimSpace(value))
	}
	canonical = append(canonical, "", signed, sum(body))
	scope := day + "/" + region + "/bedrock/aws4_request"
	text := "AWS4-HMAC-SHA256\n" + r.Header.Get("X-Amz-Date") + "\n" + scope + "\n" + sum([]byte(strings.Join(canonical, "\n")))
	key := []byte("AWS4" + AmazonSecret)
	for _, part := range []string{day, region, "bedrock", "aws4_request", text} {
		h := hmac.New(sha256.New, key)
		h.Write([]byte(part))
		key = h.Sum(nil)
	}
	if hex.EncodeToString(key) != parts[5] {
		return no
	}
	return nil
}

func sum(data []byte) string {
	s := sha256.Sum256(data)
	return hex.EncodeToString(s[:])
}
