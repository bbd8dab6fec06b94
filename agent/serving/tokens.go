package serving

import (
	"encoding/json"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/afero"
)

// Tokens are the access tokens that the user got by a sign-in in pi. They are read and never refreshed: a refresh token works
// once, and belongs to the program.
type Tokens struct {
	Fs  afero.Fs
	Dir string // pi's agent directory
	Now func() time.Time
}

const (
	tokensFile = "mcp-auth.json"
	maxTokens  = 1 << 20 // bytes of the file

	// sendTime is how long a token must still be valid.
	sendTime = 10 * time.Second
)

var notInKey = regexp.MustCompile(`[^A-Za-z0-9_]`)

// Of returns the token of a server, "" if there is none that is valid.
func (t *Tokens) Of(name, address string) string {
	f, err := t.Fs.Open(filepath.Join(t.Dir, tokensFile))
	if err != nil {
		return ""
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() || info.Size() > maxTokens {
		return ""
	}
	content, err := afero.ReadAll(f)
	if err != nil {
		return ""
	}
	var states map[string]json.RawMessage
	if json.Unmarshal(content, &states) != nil {
		return ""
	}
	address = asPi(address)
	for _, key := range []string{"mcp__" + notInKey.ReplaceAllString(name, "_") + "|" + address, address} {
		if raw, has := states[key]; has {
			return t.valid(raw)
		}
	}
	return ""
}

// valid returns the token of a state if it has not expired.
func (t *Tokens) valid(raw json.RawMessage) string {
	var state struct {
		Tokens struct {
			Access string `json:"access_token"`
		} `json:"tokens"`
		Expires *float64 `json:"tokensExpireAt"` // milliseconds
	}
	if json.Unmarshal(raw, &state) != nil || strings.ContainsAny(state.Tokens.Access, "\r\n\x00") {
		return ""
	}
	if e := state.Expires; e != nil && t.Now().Add(sendTime).UnixMilli() >= int64(*e) {
		return ""
	}
	return state.Tokens.Access
}

// asPi returns an address as pi's keys have it.
func asPi(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	u.Scheme, u.Host = strings.ToLower(u.Scheme), strings.ToLower(u.Host)
	if standard := map[string]string{"http": ":80", "https": ":443"}[u.Scheme]; standard != "" {
		u.Host = strings.TrimSuffix(u.Host, standard)
	}
	if u.Path == "" {
		u.Path = "/"
	}
	return u.String()
}
