package guard_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/provider/answer"
	"github.com/xcsh-ls/xcsh-ls/internal/guard"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
)

// words is a wire format in which every event is a piece of text and "." is the last.
type wordDecoder struct {
	a    *answer.Answer
	text *int
}

func (d *wordDecoder) Event(e guard.Event) (bool, error) {
	s := string(e.Data)
	switch {
	case s == ".":
		return true, nil
	case s == "?":
		return false, errors.New("no word at all")
	case d.text == nil:
		i := d.a.Open(provider.Text(""))
		d.text = &i
	}
	d.a.Add(*d.text, s)
	return false, nil
}

func (d *wordDecoder) End() error { return guard.ErrIncomplete }

func words(_ provider.Request, a *answer.Answer) (guard.Call, guard.Decoder, error) {
	return guard.Call{URL: "http://words.example/x", Header: http.Header{"X-Key": {"k"}}, Body: []byte("{}")}, &wordDecoder{a: a}, nil
}

// roundTripper answers without a network.
type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// pipe responds with the bytes written to the writer, for as long as the request lives.
func pipe() (roundTripper, *io.PipeWriter) {
	pr, pw := io.Pipe()
	return func(r *http.Request) (*http.Response, error) {
		context.AfterFunc(r.Context(), func() { _ = pr.CloseWithError(r.Context().Err()) }) // never fails
		h := http.Header{"Content-Type": {"text/event-stream"}, "X-Request-Id": {"r-1"}}
		return &http.Response{StatusCode: 200, Status: "200 OK", Header: h, Body: pr, Request: r}, nil
	}, pw
}

var request = provider.Request{Model: provider.Model{ID: "m", Provider: "words", API: "words"}, Key: "k"}

func TestSilenceEndsARequest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		rt, pw := pipe()
		go func() {
			for range 3 {
				<-time.After(guard.DefaultIdle - time.Second)
				_, _ = io.WriteString(pw, "data: a\n\n")
			}
		}()
		began := time.Now()
		o := providertest.Collect(t, guard.Stream(t.Context(), request, guard.Options{Transport: rt}, words))
		require.Equal(t, provider.Timeout, o.Err.Class)
		require.Equal(t, "aaa", o.Message.PlainText())
		require.Equal(t, "r-1", o.Err.RequestID)
		require.Equal(t, 3*(guard.DefaultIdle-time.Second)+guard.DefaultIdle, time.Since(began))
	})
}

func TestSilenceBeforeTheStatusEndsARequest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		rt := roundTripper(func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		})
		began := time.Now()
		o := providertest.Collect(t, guard.Stream(t.Context(), request, guard.Options{Transport: rt, Idle: time.Second}, words))
		require.Equal(t, provider.Timeout, o.Err.Class)
		require.Equal(t, "words did not respond for 1s", o.Err.Message)
		require.Equal(t, time.Second, time.Since(began))
	})
}

func TestTheReadersOwnTimeDoesNotCount(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		rt, pw := pipe()
		go func() { _, _ = io.WriteString(pw, "data: a\n\ndata: b\n\ndata: .\n\n") }()
		stream := guard.Stream(t.Context(), request, guard.Options{Transport: rt, Idle: time.Second}, words)
		o := providertest.CollectWith(t, stream, func(provider.Event) { <-time.After(time.Hour) })
		require.Nil(t, o.Err)
		require.Equal(t, "ab", o.Message.PlainText())
	})
}

func TestNoIdleTimeout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		rt, pw := pipe()
		go func() {
			<-time.After(1000 * time.Hour)
			_, _ = io.WriteString(pw, "data: .\n\n")
		}()
		o := providertest.Collect(t, guard.Stream(t.Context(), request, guard.Options{Transport: rt, Idle: -1}, words))
		require.Nil(t, o.Err)
	})
}

func TestADeadlineIsAnAbort(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		rt, _ := pipe()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		o := providertest.Collect(t, guard.Stream(ctx, request, guard.Options{Transport: rt}, words))
		require.Equal(t, provider.Aborted, o.Err.Class)
	})
}

// Events that have already arrived must not delay an abort.
func TestAbortDoesNotWaitForBufferedEvents(t *testing.T) {
	t.Parallel()
	rt, pw := pipe()
	go func() { _, _ = io.WriteString(pw, strings.Repeat("data: a\n\n", 100)+"data: .\n\n") }()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	o := providertest.CollectWith(t, guard.Stream(ctx, request, guard.Options{Transport: rt}, words), func(e provider.Event) {
		if e.Kind == provider.TextDelta {
			cancel()
		}
	})
	require.Equal(t, provider.Aborted, o.Err.Class)
	require.Equal(t, "a", o.Message.PlainText())
}

func TestAnswersThatAreNoStream(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status     int
		kind, body string
		class      provider.Class
		message    string
	}{
		"JSON":                        {200, "application/json", `{"choices":[]}`, provider.Protocol, `the response from words is invalid: status 200 OK with {"choices":[]}`},
		"an error with a good status": {200, "application/json", `{"error":{"message":"Overloaded","type":"overloaded_error"}}`, provider.Overloaded, "words is overloaded: Overloaded"},
		"a page":                      {200, "text/html", "<p>Log in</p>", provider.Protocol, "the response from words is invalid: status 200 OK with Log in"},
		"an error page":               {502, "text/html", "<h1>Bad gateway</h1>", provider.Server, "words failed: Bad gateway"},
		"an error as events":          {429, "text/event-stream", `{"error":{"message":"slow"}}`, provider.RateLimit, "words is limiting requests: slow"},
		"nothing":                     {204, "", "", provider.Protocol, "the response from words is invalid: status 204 No Content with nothing"},
		"a key that is repeated":      {401, "text/plain", "Incorrect key: secret-key", provider.Auth, "words rejected the API key: Incorrect key: (hidden)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rt := roundTripper(func(r *http.Request) (*http.Response, error) {
				body := io.NopCloser(strings.NewReader(c.body))
				return &http.Response{
					StatusCode: c.status, Status: strconv.Itoa(c.status) + " " + http.StatusText(c.status), Header: http.Header{"Content-Type": {c.kind}}, Body: body, Request: r,
				}, nil
			})
			req := request
			req.Key = "secret-key"
			o := providertest.Collect(t, guard.Stream(t.Context(), req, guard.Options{Transport: rt}, words))
			require.Equal(t, c.class, o.Err.Class)
			require.Equal(t, c.message, o.Err.Message)
			require.Equal(t, c.status, o.Err.Status)
		})
	}
}

func TestEventsThatAreNotUnderstood(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]provider.Class{
		"data: ?\n\n":            provider.Protocol,  // not such a service
		"data: a\n\ndata: ?\n\n": provider.Truncated, // an accident
		"data: a\n\ndata: ?":     provider.Truncated, // the rest of the event is missing
		"data: a\n\n":            provider.Truncated,
		"":                       provider.Truncated,
	} {
		rt, pw := pipe()
		go func() {
			_, _ = io.WriteString(pw, in)
			_ = pw.Close()
		}()
		o := providertest.Collect(t, guard.Stream(t.Context(), request, guard.Options{Transport: rt}, words))
		require.Equal(t, want, o.Err.Class, "%q", in)
	}
}

func TestABrokenConnection(t *testing.T) {
	t.Parallel()
	rt, pw := pipe()
	go func() {
		_, _ = io.WriteString(pw, "data: a\n\n")
		_ = pw.CloseWithError(io.ErrUnexpectedEOF)
	}()
	o := providertest.Collect(t, guard.Stream(t.Context(), request, guard.Options{Transport: rt}, words))
	require.Equal(t, provider.Truncated, o.Err.Class)
	require.Equal(t, "the response from words is incomplete: the connection broke: unexpected EOF (request r-1)", o.Err.Error())
	require.Equal(t, "a", o.Message.PlainText())
}

// Proves: O-057
func TestHeaders(t *testing.T) {
	t.Parallel()
	var sent http.Header
	rt := roundTripper(func(r *http.Request) (*http.Response, error) {
		sent = r.Header
		return nil, io.EOF
	})
	req := request
	req.Model.Headers = map[string]string{"x-key": "other", "User-Agent": "me"}
	o := providertest.Collect(t, guard.Stream(t.Context(), req, guard.Options{Transport: rt}, words))
	require.Equal(t, provider.Network, o.Err.Class)
	require.Equal(t, "other", sent.Get("X-Key"), "the model's own headers count most")
	require.Equal(t, "me", sent.Get("User-Agent"))
	require.Equal(t, "text/event-stream", sent.Get("Accept"))

	req.Model.Headers = map[string]string{"X-Key": "secret\nvalue"}
	o = providertest.Collect(t, guard.Stream(t.Context(), req, guard.Options{}, words))
	require.NotNil(t, o.Err)
	require.NotContains(t, o.Err.Message, "secret")
}
