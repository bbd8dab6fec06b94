package mcp

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

const maxRedirects = 5

var (
	errOtherAddress = errors.New("it refers to another address than the one of its definition")
	errTooLarge     = errors.New("it sent more than can be read at once")
)

// remote sends the requests for a server at an address. It sends them to that host only.
type remote struct {
	server    Server
	address   *url.URL
	secrets   *secrets
	network   *http.Transport
	cancelled func() // called when a cancellation was sent
	changed   func() // called when a change of a list is read, before what follows it is

	signIn atomic.Bool // the server has refused the request for want of a sign-in
}

func newRemote(s Server, k *secrets, cancelled, changed func()) (*remote, error) {
	u, err := url.Parse(s.URL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, errors.New("its url is not an address that begins with http:// or https://")
	}
	network, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		network = &http.Transport{}
	}
	return &remote{server: s, address: u, secrets: k, network: network.Clone(), cancelled: cancelled, changed: changed}, nil
}

// transport returns the transport of the SDK for the server.
func (r *remote) transport() sdk.Transport {
	client := &http.Client{Transport: r, CheckRedirect: r.redirect}
	if r.server.Transport == SSE {
		return &sdk.SSEClientTransport{Endpoint: r.server.URL, HTTPClient: client, MaxEventSize: maxMessage}
	}
	return &sdk.StreamableClientTransport{Endpoint: r.server.URL, HTTPClient: client, MaxEventSize: maxMessage}
}

// redirect allows redirects on the host, as from "/mcp" to "/mcp/".
func (r *remote) redirect(req *http.Request, via []*http.Request) error {
	if len(via) > maxRedirects {
		return errors.New("it redirects too often")
	}
	return r.isOwn(req.URL)
}

// isOwn fails for the address of another host.
func (r *remote) isOwn(u *url.URL) error {
	if u.Scheme != r.address.Scheme || !strings.EqualFold(u.Host, r.address.Host) {
		return errOtherAddress
	}
	return nil
}

// RoundTrip sends a request with the headers of the definition.
func (r *remote) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := r.isOwn(req.URL); err != nil {
		return nil, err
	}
	isCancellation := cancels(req)
	req = req.Clone(req.Context())
	if err := r.authorize(req); err != nil {
		return nil, err
	}
	for name, value := range r.server.Headers {
		if strings.EqualFold(name, "Host") {
			req.Host = value
			continue
		}
		req.Header.Set(name, value)
	}
	resp, err := r.network.RoundTrip(req)
	if isCancellation {
		r.cancelled()
	}
	if err != nil {
		return nil, err
	}
	r.signIn.Store(resp.StatusCode == http.StatusUnauthorized)
	if !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		resp.Body = &limitedBody{ReadCloser: resp.Body, left: maxMessage}
	}
	resp.Body = &watchedBody{ReadCloser: resp.Body, changed: r.changed}
	return resp, nil
}

// authorize adds the access token.
func (r *remote) authorize(req *http.Request) error {
	if r.server.Token == nil {
		return nil
	}
	token, err := r.server.Token(req.Context())
	if err != nil || token == "" {
		return err
	}
	r.secrets.add(token, true)
	req.Header.Set("Authorization", "Bearer "+token)
	return nil
}

// cancels reports whether a request is the cancellation of a call.
func cancels(req *http.Request) bool {
	const most = 4 << 10 // bytes of a cancellation
	if req.Method != http.MethodPost || req.GetBody == nil || req.ContentLength > most {
		return false
	}
	body, err := req.GetBody()
	if err != nil {
		return false
	}
	defer body.Close()
	content, err := io.ReadAll(io.LimitReader(body, most))
	return err == nil && bytes.Contains(content, []byte(`"`+cancelledMethod+`"`))
}

// limitedBody fails when a body is longer than a message may be.
type limitedBody struct {
	io.ReadCloser
	left int
}

func (b *limitedBody) Read(p []byte) (int, error) {
	if b.left < 0 {
		return 0, errTooLarge
	}
	n, err := b.ReadCloser.Read(p[:min(len(p), b.left+1)])
	if b.left -= n; b.left < 0 {
		return n, errTooLarge
	}
	return n, err
}

// close ends the connections to the server.
func (r *remote) close() { r.network.CloseIdleConnections() }

// reason returns an error of HTTP without the address, which may contain a secret.
func reason(err error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		return e.Err
	}
	return err
}

// contextWithStop returns a context with the values of another one that ends only when it is stopped, for a connection that outlives
// its start.
func contextWithStop(parent context.Context) (context.Context, context.CancelFunc) {
	return context.WithCancel(context.WithoutCancel(parent))
}
