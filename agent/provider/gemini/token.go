package gemini

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/google"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
)

// tokens are those of the user's application default credentials. They are looked for at the first
// use, and kept until they expire.
type tokens struct {
	mu     sync.Mutex
	source oauth2.TokenSource // guarded by mu; nil until credentials are found
}

const cloudScope = "https://www.googleapis.com/auth/cloud-platform"

// get returns a token. It returns early if ctx ends.
func (t *tokens) get(ctx context.Context) (string, error) {
	type outcome struct {
		token string
		err   error
	}
	done := make(chan outcome, 1)
	go func() {
		token, err := t.fetch()
		done <- outcome{token, err}
	}()
	select {
	case <-ctx.Done():
		return "", ctx.Err() // the request ends for the same reason
	case o := <-done:
		return o.token, o.err
	}
}

// fetch requests a token, unless there is one that is still good. Requests of this kind end after a
// short time and follow no redirects, because credentials go along.
func (t *tokens) fetch() (string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	const patience = 30 * time.Second
	client := &http.Client{
		Timeout:       patience,
		Transport:     &http.Transport{Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	if t.source == nil {
		ctx := context.WithValue(context.Background(), oauth2.HTTPClient, client) // outlives the request
		found, err := google.FindDefaultCredentials(ctx, cloudScope)
		if err != nil {
			return "", &provider.Error{Class: provider.Auth, Message: "Google Cloud has no credentials on this machine: " +
				"run gcloud auth application-default login, or set GOOGLE_APPLICATION_CREDENTIALS or GOOGLE_CLOUD_API_KEY"}
		}
		t.source = found.TokenSource
	}
	token, err := t.source.Token()
	if err == nil {
		return token.AccessToken, nil
	}
	t.source = nil // the user may renew them
	refused, ok := errors.AsType[*oauth2.RetrieveError](err)
	if !ok || refused.Response != nil && refused.Response.StatusCode >= http.StatusInternalServerError {
		return "", &provider.Error{Class: provider.Network, Message: "Google Cloud's tokens cannot be reached"}
	}
	// The text of the error repeats the response.
	return "", &provider.Error{
		Class: provider.Auth, Code: refused.ErrorCode,
		Message: "Google Cloud rejected the credentials of this machine: run gcloud auth application-default login",
	}
}
