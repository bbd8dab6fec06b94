package tool_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"image"
	"image/png"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/agent/web"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// webWorld is a world whose web has pages by path, all at the public address of example.com.
func webWorld(t *testing.T, pages map[string][2]string) (w *world, asked *[]web.Site) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		page, ok := pages[r.URL.Path]
		switch {
		case !ok:
			http.NotFound(w, r)
		case page[0] == "redirect":
			http.Redirect(w, r, page[1], http.StatusFound)
		default:
			w.Header().Set("Content-Type", page[0])
			_, _ = w.Write([]byte(page[1]))
		}
	}))
	t.Cleanup(server.Close)
	fetcher := &web.Fetcher{
		Lookup: func(context.Context, string) ([]netip.Addr, error) {
			return []netip.Addr{netip.MustParseAddr("93.184.215.14")}, nil
		},
		Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, network, server.Listener.Addr().String())
		},
		Proxy: func(*url.URL) (*url.URL, error) { return nil, nil },
	}
	w = worldOver(t, tool.Options{Fs: afero.NewMemMapFs(), Home: "/home/me", Web: fetcher}, "/w", nil)
	asked = new([]web.Site)
	w.env.CallID = "call-1"
	w.env.Reach = func(_ context.Context, call string, s web.Site) error {
		require.Equal(t, "call-1", call)
		*asked = append(*asked, s)
		if s.Private {
			return errors.New("not there")
		}
		return nil
	}
	return w, asked
}

func TestReadAWebPage(t *testing.T) {
	t.Parallel()
	var picture bytes.Buffer
	require.NoError(t, png.Encode(&picture, image.NewRGBA(image.Rect(0, 0, 2, 2))))
	w, asked := webWorld(t, map[string][2]string{
		"/page": {"text/html; charset=utf-8", "<title>T</title><h1>Head</h1><p>Text\x1b[31m of <a href=/x>it</a>"}, "/from": {"redirect", "/page"}, "/away": {"redirect", "http://127.0.0.1/"},
		"/long": {"text/plain", strings.Repeat("line\n", 5000)}, "/json": {"application/json", `{"a":1}`}, "/zip": {"application/zip", "PK\x03\x04\x00"},
		"/picture": {"image/png", picture.String()},
	})
	read := func(args string) (tool.Result, error) {
		checked, err := w.tools["read"].Check(json.RawMessage(args))
		require.NoError(t, err)
		return w.tools["read"].Run(t.Context(), w.env, checked)
	}
	r, err := read(`{"path":"http://example.com/from"}`)
	require.NoError(t, err)
	require.Equal(t, "URL: http://example.com/page\n[Redirected to http://example.com/page.]\n\nTitle: T\n\n# Head\n\nText of it (http://example.com/x)", strings.TrimSpace(r.Content[0].Text))
	require.JSONEq(t, `{"kind":"url","url":"http://example.com/from","finalUrl":"http://example.com/page","contentType":"text/html","method":"html","truncated":false,
		"notes":["Redirected to http://example.com/page."]}`, string(r.Details))
	require.Equal(t, "http://example.com", (*asked)[0].Origin)

	r, err = read(`{"path":"@http://example.com/long","offset":4000,"limit":2}`)
	require.NoError(t, err)
	require.Equal(t, "URL: http://example.com/long\n\nline\nline\n\n[999 more lines in the file. Use offset=4002 to continue.]", r.Content[0].Text)
	r, err = read(`{"path":"http://example.com/long"}`)
	require.NoError(t, err)
	require.Contains(t, r.Content[0].Text, "[Showing lines 1-2000 of 5000. Use offset=2001 to continue.]")
	require.Contains(t, string(r.Details), `"truncated":true`)
	r, err = read(`{"path":"http://example.com/json"}`)
	require.NoError(t, err)
	require.Contains(t, string(r.Details), `"method":"text","truncated":false,"notes":[]`)
	r, err = read(`{"path":"http://example.com/picture"}`)
	require.NoError(t, err)
	require.Equal(t, provider.TypeImage, r.Content[1].Type)
	require.Contains(t, string(r.Details), `"method":"image"`)

	for path, want := range map[string]string{
		"/zip": "http://example.com/zip is neither text nor an image: it is application/zip (5B).", "/none": "it answered 404 Not Found.", "/away": "not there",
	} {
		_, err = read(`{"path":"http://example.com` + path + `"}`)
		require.ErrorContains(t, err, want)
	}
	w.env.Reach = nil
	_, err = read(`{"path":"http://example.com/json"}`)
	require.True(t, fault.Is(err, fault.Denied))
	require.Zero(t, w.tools["read"].Limit(json.RawMessage(`{"path":"https://x"}`)), "the user may take long to answer")
	require.Equal(t, 2*time.Minute, w.tools["read"].Limit(json.RawMessage(`{"path":"x"}`)))
	for _, name := range []string{"write", "edit", "ls", "grep", "find"} {
		_, err = w.tools[name].Check(json.RawMessage(`{"path":"https://example.com/","content":"x","pattern":"x","edits":[{"oldText":"a","newText":"b"}]}`))
		require.Error(t, err, name)
	}
}

func TestUnknownSchemes(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	for _, address := range []string{"foo://x", "ssh://host/x", "FOO://x"} {
		_, err := w.tools["read"].Check(json.RawMessage(`{"path":"` + address + `"}`))
		require.EqualError(t, err, `xcsh-ls does not know "`+tool.Scheme(address)+`://" paths. Nothing was read or changed.`)
	}
}
