package serving

import (
	"context"
	"encoding/json"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/agent/provider/agentdb"
)

// Tokens are the access tokens that the user got by a sign-in in a program. They are read and never refreshed: a refresh token works
// once, and belongs to the program.
type Tokens struct {
	Fs  afero.Fs
	Dir string // the program's agent directory
	Now func() time.Time

	// Logins reads the database of oh-my-pi and xcsh; nil for pi, which has a file.
	Logins *agentdb.Reader
}

// loginOf precedes the address of a server in the names of the logins of oh-my-pi and xcsh.
const loginOf = "mcp_oauth:profile:default:"

const (
	tokensFile = "mcp-auth.json"
	maxTokens  = 1 << 20 // bytes of the file

	// sendTime is how long a token must still be valid.
	sendTime = 10 * time.Second
)

var notInKey = regexp.MustCompile(`[^A-Za-z0-9_]`)

// Of returns the token of a server, "" if there is none that is valid.
func (t *Tokens) Of(ctx context.Context, name, address string) string {
	if t.Logins != nil {
		return t.login(ctx, address)
	}
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

// login returns the token of a login in the database.
func (t *Tokens) login(ctx context.Context, address string) string {
	list, err := t.Logins.Read(ctx, agentdb.PathIn(t.Dir))
	if err != nil {
		return ""
	}
	for _, c := range list {
		if c.Provider == loginOf+address && c.Login && t.lasts(c.Expires) && isToken(c.Access()) {
			return c.Access()
		}
	}
	return ""
}

// lasts reports whether a token that ends at a time, in milliseconds, can still be sent. 0 is an unknown time.
func (t *Tokens) lasts(until int64) bool {
	return until == 0 || t.Now().Add(sendTime).UnixMilli() < until
}

// isToken reports whether a text can be part of a header.
func isToken(text string) bool { return text != "" && !strings.ContainsAny(text, "\r\n\x00") }

// valid returns the token of a state if it has not expired.
func (t *Tokens) valid(raw json.RawMessage) string {
	var state struct {
		Tokens struct {
			Access string `json:"access_token"`
		} `json:"tokens"`
		Expires float64 `json:"tokensExpireAt"` // milliseconds
	}
	if json.Unmarshal(raw, &state) != nil || !isToken(state.Tokens.Access) || !t.lasts(int64(state.Expires)) {
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
