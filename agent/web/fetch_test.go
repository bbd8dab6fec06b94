package web_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/web"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/racetest"
)

// internet is a network of names: every address leads to one server, and dials are recorded.
type internet struct {
	server *httptest.Server
	names  map[string][]string // a later lookup gets the next list, separated by spaces

	mu      sync.Mutex
	looked  []string
	dialed  []string
	permits []web.Site
}

func newInternet(t *testing.T, names map[string][]string, handle http.HandlerFunc) (*internet, *web.Fetcher) {
	t.Helper()
	n := &internet{server: httptest.NewServer(handle), names: names}
	t.Cleanup(n.server.Close)
	return n, &web.Fetcher{Lookup: n.lookup, Dial: n.dial, Proxy: func(*url.URL) (*url.URL, error) { return nil, nil }}
}

func (n *internet) lookup(_ context.Context, host string) (addrs []netip.Addr, err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.looked = append(n.looked, host)
	answers := n.names[host]
	if len(answers) == 0 {
		return nil, errors.New("no such host")
	}
	if len(answers) > 1 {
		n.names[host] = answers[1:]
	}
	for a := range strings.FieldsSeq(answers[0]) {
		addrs = append(addrs, netip.MustParseAddr(a))
	}
	return addrs, nil
}

func (n *internet) dial(ctx context.Context, network, address string) (net.Conn, error) {
	n.mu.Lock()
	n.dialed = append(n.dialed, address)
	n.mu.Unlock()
	return (&net.Dialer{}).DialContext(ctx, network, n.server.Listener.Addr().String())
}

// permit allows public sites.
func (n *internet) permit(_ context.Context, s web.Site) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.permits = append(n.permits, s)
	if s.Private {
		return fault.New(fault.Denied, "private: %s at %s", s.Origin, s.At)
	}
	return nil
}

func answer(contentType, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		_, _ = w.Write([]byte(body))
	}
}

func TestGet(t *testing.T) {
	t.Parallel()
	var sent http.Header
	n, f := newInternet(t, map[string][]string{"example.com": {"93.184.215.14 2606:2800:220:1::1"}}, func(w http.ResponseWriter, r *http.Request) {
		sent = r.Header.Clone()
		answer("text/plain; charset=utf-8", r.Host+r.URL.String()+"\n")(w, r)
	})
	page, err := f.Get(t.Context(), " http://Example.com:80/a?b=c#part ", n.permit)
	require.NoError(t, err)
	text, method, ok := page.Text()
	require.True(t, ok)
	require.Equal(t, web.Plain, method)
	require.Equal(t, "Example.com:80/a?b=c\n", text)
	require.Equal(t, "http://Example.com:80/a?b=c", page.FinalURL)
	require.Equal(t, []web.Site{{Origin: "http://example.com", URL: "http://Example.com:80/a?b=c"}}, n.permits)
	require.Equal(t, []string{"93.184.215.14:80"}, n.dialed)
	for _, name := range []string{"Cookie", "Authorization", "Referer"} {
		require.Empty(t, sent.Get(name))
	}
	require.False(t, page.Truncated)
}

// A name is not looked up before the permission: the lookup alone would carry data away.
func TestNoLookupWithoutPermission(t *testing.T) {
	t.Parallel()
	n, f := newInternet(t, map[string][]string{"secret.evil.example": {"93.184.215.14"}}, answer("text/plain", "x"))
	_, err := f.Get(t.Context(), "https://secret.evil.example/", func(context.Context, web.Site) error { return errors.New("no") })
	require.EqualError(t, err, "no")
	require.Empty(t, n.looked)
	require.Empty(t, n.dialed)
	f.Secret = func(address string) bool { return strings.Contains(address, "secret") }
	_, err = f.Get(t.Context(), "https://secret.evil.example/", n.permit)
	require.True(t, fault.Is(err, fault.Denied))
	require.NotContains(t, err.Error(), "/?")
	require.Empty(t, n.looked)
}

// An address in a private network needs a permission of its own, in every spelling, behind every name and after every redirect.
func TestPrivateAddresses(t *testing.T) {
	t.Parallel()
	names := map[string][]string{
		"localhost": {"127.0.0.1"}, "x.localhost": {"127.0.0.1"}, "localhost.": {"127.0.0.1"}, "127.1": {"127.0.0.1"}, "2130706433": {"127.0.0.1"}, "0x7f000001": {"127.0.0.1"},
		"router.example": {"192.168.1.1"}, "mixed.example": {"93.184.215.14 10.0.0.1"}, "metadata.example": {"169.254.169.254"}, "v6.example": {"fd00::1"},
		"mapped.example": {"::ffff:10.0.0.1"}, "nat.example": {"64:ff9b::a00:1"}, "six.example": {"2002:a00:1::"}, "compat.example": {"::10.0.0.1"},
	}
	n, f := newInternet(t, names, answer("text/plain", "x"))
	hosts := []string{
		"127.0.0.1", "127.8.8.8", "0.0.0.0", "10.1.2.3", "100.64.0.1", "169.254.169.254", "172.16.0.1", "172.31.255.255", "192.168.0.1", "192.0.0.1", "198.18.0.1",
		"224.0.0.1", "240.0.0.1", "255.255.255.255", "[::1]", "[::]", "[fe80::1]", "[fe80::1%25eth0]", "[fc00::1]", "[ff02::1]", "[::ffff:127.0.0.1]", "[::ffff:a9fe:a9fe]",
		"[64:ff9b::7f00:1]", "[2002:7f00:1::]", "[2001:db8::1]", "[2001::1]", "[fec0::1]", "[::7f00:1]",
	}
	hosts = append(hosts, "LOCALHOST", "Router.Example")
	for name := range names {
		hosts = append(hosts, name)
	}
	for _, host := range hosts {
		_, err := f.Get(t.Context(), "http://"+host+"/latest/meta-data", n.permit)
		require.ErrorContains(t, err, "private: http://", host)
		require.Empty(t, n.dialed, host)
	}
	for _, public := range []string{"93.184.215.14", "1.1.1.1", "172.32.0.1", "100.128.0.1", "[2606:2800:220:1::1]", "[64:ff9b::101:101]", "[::ffff:1.1.1.1]"} {
		_, err := f.Get(t.Context(), "http://"+public+"/", n.permit)
		require.NoError(t, err, public)
	}
}

func TestRedirects(t *testing.T) {
	t.Parallel()
	names := map[string][]string{"a.example": {"93.184.215.14"}, "b.example": {"93.184.215.15"}, "inside.example": {"10.0.0.1"}}
	var to string
	n, f := newInternet(t, names, func(w http.ResponseWriter, r *http.Request) {
		if r.Host == "b.example" && r.URL.Path == "/end" {
			answer("text/plain", "end")(w, r)
			return
		}
		w.Header().Set("Location", to)
		w.WriteHeader(http.StatusFound)
	})
	get := func(location string) (web.Page, error) {
		to, n.permits, n.dialed = location, nil, nil
		return f.Get(t.Context(), "http://a.example/", n.permit)
	}
	page, err := get("http://b.example/end")
	require.NoError(t, err)
	require.Equal(t, "http://b.example/end", page.FinalURL)
	require.Equal(t, "http://a.example/", page.URL)
	require.Equal(t, []string{"Redirected to http://b.example/end."}, page.Notes)
	require.Len(t, n.permits, 2, "another site needs a permission of its own")

	for location, want := range map[string]string{
		"http://169.254.169.254/latest/": "private: http://169.254.169.254", "http://inside.example/": "private: http://inside.example at 10.0.0.1",
		"//localhost/": "private: http://localhost", "file:///etc/passwd": "begins with neither", "gopher://x/": "begins with neither", "http://u:p@b.example/": "a user name",
		"": "it redirects to nowhere", "http://%zz/": "it redirects to nowhere", "/again": "it redirects more than 5 times",
	} {
		_, err := get(location)
		require.ErrorContains(t, err, want, location)
		require.Equal(t, []string{"93.184.215.14:80"}, unique(n.dialed), location)
		require.LessOrEqual(t, len(n.dialed), len(n.permits), "every connection has a permission: %s", location)
	}
}

func unique(all []string) (list []string) {
	for _, s := range all {
		if len(list) == 0 || list[len(list)-1] != s {
			list = append(list, s)
		}
	}
	return list
}

// A name that leads elsewhere at its second lookup gets no second lookup: the checked address is dialed.
func TestRebinding(t *testing.T) {
	t.Parallel()
	n, f := newInternet(t, map[string][]string{"rebind.example": {"93.184.215.14", "127.0.0.1"}}, answer("text/plain", "x"))
	_, err := f.Get(t.Context(), "http://rebind.example/", n.permit)
	require.NoError(t, err)
	require.Equal(t, []string{"93.184.215.14:80"}, n.dialed)
	_, err = f.Get(t.Context(), "http://rebind.example/", n.permit)
	require.EqualError(t, err, "private: http://rebind.example at 127.0.0.1")
	require.Len(t, n.dialed, 1)
}

// The answers of a hostile server cost bounded time and memory.
func TestHostileAnswers(t *testing.T) {
	t.Parallel()
	racetest.Large(t)
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	zeros := make([]byte, 1<<20)
	for range 200 {
		_, _ = z.Write(zeros)
	}
	require.NoError(t, z.Close())
	for name, c := range map[string]struct {
		handle http.HandlerFunc
		want   string // an error; "" for a page that is cut
	}{
		"bomb": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			w.Header().Set("Content-Type", "text/plain")
			_, _ = w.Write(bomb.Bytes())
		}, ""},
		"large": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/plain")
			for range 8 {
				_, _ = w.Write(bytes.Repeat([]byte("y"), 1<<20))
			}
		}, ""},
		"endless": {func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusOK)
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		}, "it did not answer completely within 400ms"},
		"silent": {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, "it did not answer completely within 400ms"},
		"huge header": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X-Large", strings.Repeat("x", 1<<20))
		}, "server response headers exceeded"},
		"an error":      {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) }, "it answered 404 Not Found."},
		"no answer":     {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "http://evil.example/ was not read: "},
		"another reply": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotModified) }, "it answered 304"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n, f := newInternet(t, map[string][]string{"evil.example": {"93.184.215.14"}}, c.handle)
			f.Limit = 30 * time.Second
			if strings.Contains(c.want, "400ms") {
				f.Limit = 400 * time.Millisecond
			}
			page, err := f.Get(t.Context(), "http://evil.example/", n.permit)
			if c.want != "" {
				require.ErrorContains(t, err, c.want)
				require.NotContains(t, err.Error(), "\n")
				return
			}
			require.NoError(t, err)
			require.True(t, page.Truncated)
			require.Len(t, page.Body, 5<<20)
			require.Equal(t, []string{"Only the first 5 MB were read."}, page.Notes)
		})
	}
}

// The user's answer takes time that does not count.
func TestTheTimeOfAQuestionDoesNotCount(t *testing.T) {
	t.Parallel()
	n, f := newInternet(t, map[string][]string{"example.com": {"93.184.215.14"}}, answer("text/plain", "x"))
	_, err := f.Get(t.Context(), "http://example.com/", func(ctx context.Context, s web.Site) error {
		_, limited := ctx.Deadline()
		require.False(t, limited)
		return n.permit(ctx, s)
	})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = f.Get(ctx, "http://example.com/", n.permit)
	require.True(t, fault.Is(err, fault.Cancelled), "%v", err)
}

func TestAddressesThatAreNotRead(t *testing.T) {
	t.Parallel()
	n, f := newInternet(t, nil, answer("text/plain", "x"))
	for _, address := range []string{
		"", "http://", "https:///x", "ftp://example.com/", "file:///etc/passwd", "http://user@example.com/", "http://u:p@example.com/", "http:example.com",
		"javascript:alert(1)", "http://exa mple.com/", "http://[::1", "http://example.com/\x00", "https://example.com/" + strings.Repeat("x", 9000),
	} {
		_, err := f.Get(t.Context(), address, n.permit)
		require.True(t, fault.Is(err, fault.InvalidArgument), "%q %v", address, err)
		require.NotContains(t, err.Error(), "u:p")
	}
	require.Empty(t, n.permits)
	_, err := f.Get(t.Context(), "http://nowhere.example/", n.permit)
	require.EqualError(t, err, "http://nowhere.example/ was not read: its host was not found.")
}

// A certificate counts for the name of the host, not for the address that is dialed.
func TestCertificates(t *testing.T) {
	t.Parallel()
	n, f := newInternet(t, map[string][]string{"example.com": {"93.184.215.14"}, "other.example": {"93.184.215.14"}}, answer("text/plain", "x"))
	n.server.Close()
	n.server = httptest.NewUnstartedServer(answer("text/plain", "x"))
	n.server.Config.ErrorLog = log.New(io.Discard, "", 0)
	n.server.StartTLS()
	t.Cleanup(n.server.Close)
	roots := x509.NewCertPool()
	roots.AddCert(n.server.Certificate())
	f.TLS = &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
	_, err := f.Get(t.Context(), "https://example.com/", n.permit)
	require.NoError(t, err)
	_, err = f.Get(t.Context(), "https://other.example/", n.permit)
	require.ErrorContains(t, err, "certificate")
}

// A proxy looks up names that this machine cannot; a private address needs its permission all the same.
func TestAProxy(t *testing.T) {
	t.Parallel()
	n, f := newInternet(t, map[string][]string{"inside.example": {"10.0.0.1"}}, func(w http.ResponseWriter, r *http.Request) {
		answer("text/plain", "proxied "+r.URL.String())(w, r)
	})
	proxy, err := url.Parse("http://proxy.example:3128")
	require.NoError(t, err)
	f.Proxy = func(*url.URL) (*url.URL, error) { return proxy, nil }
	page, err := f.Get(t.Context(), "http://outside.example/x", n.permit)
	require.NoError(t, err)
	require.Equal(t, "proxied http://outside.example/x", string(page.Body))
	require.Equal(t, []string{"proxy.example:3128"}, n.dialed)
	_, err = f.Get(t.Context(), "http://inside.example/", n.permit)
	require.ErrorContains(t, err, "private: ")
}

func FuzzPages(f *testing.F) {
	f.Add("text/html", "<h1>a</h1><ul><li>b<pre>c</pre></ul><a href=x>d</a><script>e")
	f.Add("text/html; charset=utf-16", "\xff\xfea\x00")
	f.Add("", "%PDF")
	f.Fuzz(func(t *testing.T, contentType, body string) {
		page := web.Page{FinalURL: "https://example.com/x", ContentType: contentType, Body: []byte(body)}
		text, _, _ := page.Text()
		if len(text) > 50*len(body)+5000 {
			t.Fatalf("%d bytes from %d", len(text), len(body))
		}
	})
}
