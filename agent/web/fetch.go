package web

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

const (
	timeLimit    = 20 * time.Second // of all requests for one page, without the time in which the user is asked
	maxRedirects = 5
	maxBody      = 5 << 20  // bytes, after decompression
	maxHeader    = 64 << 10 // bytes
)

// Fetcher reads web pages. It is safe for concurrent use. The zero value uses the machine's network.
type Fetcher struct {
	// Secret reports whether an address contains a secret of the user, which is then not sent; nil: none does.
	Secret func(address string) bool

	// The following are for tests; nil means those of the machine.
	Lookup func(ctx context.Context, host string) ([]netip.Addr, error)
	Dial   func(ctx context.Context, network, address string) (net.Conn, error)
	Proxy  func(*url.URL) (*url.URL, error)
	TLS    *tls.Config
	Limit  time.Duration // 0: 20 s
}

// Page is a page that was read.
type Page struct {
	URL         string // as it was asked for
	FinalURL    string // after redirects
	ContentType string // as the server says
	Body        []byte
	Truncated   bool     // there is more than Body
	Notes       []string // sentences
}

// Permit asks for permission to read from a site. Its error is returned by [Fetcher.Get].
type Permit func(ctx context.Context, s Site) error

// Get reads the page at an address. It asks permit before it looks up the name of a site, and again for an address in a private
// network. An answer that is not a success is an error.
func (f *Fetcher) Get(ctx context.Context, address string, permit Permit) (Page, error) {
	u, err := parse(address)
	if err != nil {
		return Page{}, err
	}
	page := Page{URL: address, Notes: []string{}}
	left := f.Limit
	if left == 0 {
		left = timeLimit
	}
	for redirects := 0; ; redirects++ {
		if f.Secret != nil && f.Secret(u.String()) {
			return Page{}, fault.New(fault.Denied, "The address contains a secret, such as an API key, so nothing was sent to %s.", origin(u))
		}
		to, err := f.permitted(ctx, u, permit, &left)
		if err != nil {
			return Page{}, err
		}
		start := time.Now()
		next, err := f.request(ctx, u, to, left, &page)
		left -= time.Since(start)
		if err != nil || next == nil {
			page.FinalURL = u.String()
			return page, err
		}
		if redirects == maxRedirects {
			return Page{}, failed(u, "it redirects more than %d times", maxRedirects)
		}
		page.Notes = append(page.Notes, "Redirected to "+short(next.String())+".")
		u = next
	}
}

// permitted asks for permission for a site, and returns the addresses to dial; none if a proxy looks up the name.
func (f *Fetcher) permitted(ctx context.Context, u *url.URL, permit Permit, left *time.Duration) ([]netip.Addr, error) {
	host := strings.ToLower(u.Hostname())
	literal, private := named(host)
	site := Site{Origin: origin(u), Private: private, URL: u.String()}
	if err := permit(ctx, site); err != nil {
		return nil, err
	}
	if literal.IsValid() {
		return []netip.Addr{literal}, nil
	}
	start := time.Now()
	limited, cancel := context.WithTimeout(ctx, *left)
	addrs, err := f.lookup(limited, host)
	cancel()
	*left -= time.Since(start)
	switch {
	case ctx.Err() != nil:
		return nil, cancelled(u, ctx.Err())
	case err != nil || len(addrs) == 0:
		if f.proxied(u) {
			return nil, nil // the proxy may know the name, and this machine need not
		}
		return nil, failed(u, "its host was not found")
	case private:
		return addrs, nil
	}
	for _, addr := range addrs {
		if !public(addr) {
			site.Private, site.At = true, addr.String()
			return addrs, permit(ctx, site)
		}
	}
	return addrs, nil
}

func (f *Fetcher) lookup(ctx context.Context, host string) ([]netip.Addr, error) {
	if f.Lookup != nil {
		return f.Lookup(ctx, host)
	}
	return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
}

func (f *Fetcher) proxy(u *url.URL) (*url.URL, error) {
	if f.Proxy != nil {
		return f.Proxy(u)
	}
	return http.ProxyFromEnvironment(&http.Request{URL: u})
}

// proxied reports whether requests to an address go through a proxy.
func (f *Fetcher) proxied(u *url.URL) bool {
	p, err := f.proxy(u)
	return err == nil && p != nil
}

// request reads one answer into page. It returns the address to which the server redirects, nil for an answer with a page.
func (f *Fetcher) request(ctx context.Context, u *url.URL, to []netip.Addr, left time.Duration, page *Page) (next *url.URL, err error) {
	limited, cancel := context.WithTimeout(ctx, left)
	defer cancel()
	defer func() { err = f.timed(ctx, limited, u, err) }()
	req, err := http.NewRequestWithContext(limited, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, invalid("%q is not a web address.", short(u.String()))
	}
	req.Header.Set("User-Agent", "xcsh-ls")
	req.Header.Set("Accept", "text/html, text/markdown, text/plain, application/json, application/xhtml+xml, */*;q=0.5")
	transport := f.transport(u, to)
	defer transport.CloseIdleConnections()
	res, err := transport.RoundTrip(req)
	if err != nil {
		return nil, failed(u, "%s", reason(err))
	}
	defer res.Body.Close()
	switch res.StatusCode {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return redirect(u, res.Header.Get("Location"))
	}
	if res.StatusCode < 200 || res.StatusCode > 299 {
		return nil, failed(u, "it answered %d %s", res.StatusCode, http.StatusText(res.StatusCode))
	}
	page.ContentType = res.Header.Get("Content-Type")
	body, err := io.ReadAll(io.LimitReader(res.Body, maxBody+1))
	if len(body) > maxBody {
		body, err, page.Truncated = body[:maxBody], nil, true
		page.Notes = append(page.Notes, fmt.Sprintf("Only the first %d MB were read.", maxBody>>20))
	}
	if err != nil {
		return nil, failed(u, "%s", reason(err))
	}
	page.Body = body
	return nil, nil
}

// redirect returns the address that a server names.
func redirect(from *url.URL, location string) (*url.URL, error) {
	to, err := from.Parse(location)
	if location == "" || err != nil {
		return nil, failed(from, "it redirects to nowhere")
	}
	next, err := parse(to.String())
	if err != nil {
		return nil, failed(from, "it redirects to an address that cannot be read: %s", strings.TrimSuffix(err.Error(), "."))
	}
	return next, nil
}

// transport makes a connection to one of the addresses that were checked, or to the proxy, and to nothing else. It keeps
// nothing from one request to the next.
func (f *Fetcher) transport(u *url.URL, to []netip.Addr) *http.Transport {
	dial := f.Dial
	if dial == nil {
		dial = (&net.Dialer{}).DialContext
	}
	t := &http.Transport{
		Proxy: nil, DisableKeepAlives: true, ForceAttemptHTTP2: true, MaxResponseHeaderBytes: maxHeader, TLSClientConfig: f.TLS,
		DialContext: func(ctx context.Context, network, _ string) (conn net.Conn, err error) {
			err = errors.New("its host was not found")
			for _, addr := range to {
				if conn, err = dial(ctx, network, net.JoinHostPort(addr.String(), portOf(u))); err == nil {
					return conn, nil
				}
			}
			return nil, err
		},
	}
	if p, err := f.proxy(u); err == nil && p != nil {
		t.Proxy, t.DialContext = http.ProxyURL(p), dial
	}
	return t
}

// timed replaces an error by the end of the time, or by the user's cancellation.
func (f *Fetcher) timed(ctx, limited context.Context, u *url.URL, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return cancelled(u, ctx.Err())
	case limited.Err() != nil:
		limit := f.Limit
		if limit == 0 {
			limit = timeLimit
		}
		return failed(u, "it did not answer completely within %s", limit)
	}
	return err
}

func cancelled(u *url.URL, err error) error {
	return fault.New(fault.Cancelled, "Reading %s was cancelled: %w", origin(u), err)
}

func failed(u *url.URL, format string, args ...any) error {
	return fault.New(fault.IO, "%s was not read: %s.", short(u.String()), fmt.Sprintf(format, args...))
}

// reason returns the cause of an error of the network, without addresses.
func reason(err error) string {
	if e, ok := errors.AsType[*net.OpError](err); ok && e.Err != nil {
		err = e.Err
	}
	return err.Error()
}
