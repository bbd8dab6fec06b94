package guard

import (
	"bytes"
	"context"
	"errors"
	"io"
	"iter"
	"mime"
	"net/http"
	"net/url"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/provider/answer"
)

// Call is a request in a service's format. Content type and accepted type are added.
type Call struct {
	URL     string
	Header  http.Header
	Body    []byte
	Framing *Framing // of the answer; nil: server-sent events

	// Instead returns another form of the request for a service that refused this one, and whether
	// there is one. nil: there is none.
	Instead func(cause *provider.Error) (Call, bool)
}

// Framing is a form in which events follow each other, other than server-sent events.
type Framing struct {
	MediaType string

	// Events returns a function that reads the next event of a stream. Its errors are io.EOF for a
	// clean end, and any other for a stream that broke.
	Events func(io.Reader) func() (Event, error)
}

const mediaType = "text/event-stream"

// Decoder reads the events of one answer in a wire format.
type Decoder interface {
	// Event takes the next event. complete means that it was the final one and that nothing else
	// needs to be read. An error may be a [*provider.Error], a [*Problem] of the service, or any
	// other error for an event that cannot be parsed.
	Event(e Event) (complete bool, err error)

	// End is called when the stream ended cleanly without complete. It returns nil if the answer is
	// complete all the same, [ErrIncomplete] if it is not.
	End() error
}

// ErrIncomplete is a decoder's error for a stream that ends before its required events.
var ErrIncomplete = errors.New("the stream ended early")

// Begin makes a call of a request, and a decoder that fills the answer.
type Begin func(req provider.Request, a *answer.Answer) (Call, Decoder, error)

// Stream sends a request to a service. See package provider for the guarantees.
func Stream(ctx context.Context, req provider.Request, o Options, begin Begin) iter.Seq[provider.Event] {
	return func(yield func(provider.Event) bool) {
		req := req
		req.Key = strings.TrimSpace(req.Key) // a line end gets into it easily
		req.LongCache = req.LongCache || o.LongCache
		a := answer.New(req.Model, o.now(), yield)
		x := &exchange{req: req, options: o, secrets: secrets(req)}
		if err := x.run(ctx, a, begin); err != nil {
			a.Fail(err)
			return
		}
		a.Done()
	}
}

// Decode reads JSON of a service, which may be careless about UTF-8.
func Decode(data []byte, v any) error {
	return jsonv2.Unmarshal(data, v, jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
}

// exchange is one request and its answer.
type exchange struct {
	req     provider.Request
	options Options
	secrets []string
	status  int
	id      string // of the request, in the service's books
	body    []byte // of the request
}

func (x *exchange) run(parent context.Context, a *answer.Answer, begin Begin) *provider.Error {
	ctx, cancel := context.WithCancelCause(parent)
	defer cancel(nil)
	if ctx.Err() != nil {
		return x.broken(ctx, ctx.Err())
	}
	call, decoder, err := begin(x.req, a)
	if own, ok := errors.AsType[*provider.Error](err); ok {
		return own
	}
	if err != nil {
		return x.fail(provider.InvalidRequest, err.Error())
	}
	x.body = call.Body
	w := newWatch(x.options, cancel)
	defer w.stop()
	for {
		failure, refused := x.exchange(ctx, call, decoder, a, w)
		if !refused || call.Instead == nil {
			return failure
		}
		instead, ok := call.Instead(failure)
		if !ok {
			return failure
		}
		instead.Instead, call, x.id = nil, instead, "" // one other form is enough
	}
}

// exchange makes the call and reads the answer. refused reports that the service answered with a
// failure instead.
func (x *exchange) exchange(ctx context.Context, call Call, decoder Decoder, a *answer.Answer, w *watch) (failure *provider.Error, refused bool) {
	resp, err := x.send(ctx, call, w)
	if err != nil {
		return x.broken(ctx, err), false
	}
	defer resp.Body.Close()
	body := watched{resp.Body, w}
	accepted, next := mediaType, newEventReader(body).next
	if f := call.Framing; f != nil {
		accepted, next = f.MediaType, f.Events(body)
	}
	if failure := x.check(resp, accepted, body); failure != nil {
		if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, errIdle) {
			return x.broken(ctx, cause), false
		}
		return failure, true
	}
	return x.read(ctx, next, decoder, a), false
}

// read hands the events to the decoder until the answer is complete.
func (x *exchange) read(ctx context.Context, next func() (Event, error), decoder Decoder, a *answer.Answer) *provider.Error {
	for began := false; ; began = true {
		e, err := next()
		switch {
		case ctx.Err() != nil:
			return x.broken(ctx, ctx.Err())
		case errors.Is(err, io.EOF):
			return x.explain(decoder.End())
		case errors.Is(err, errTooLong):
			return x.fail(provider.Protocol, err.Error())
		case err != nil:
			return x.fail(provider.Truncated, "the connection broke: "+plainError(err))
		}
		complete, err := decoder.Event(e)
		switch {
		case a.Stopped():
			return nil
		case err != nil && e.Cut:
			return x.fail(provider.Truncated, "the stream ended within an event")
		case err != nil && began && unreadable(err):
			// The service speaks the format, so this is an accident, like a broken connection.
			return x.fail(provider.Truncated, "an event cannot be read: "+strings.TrimPrefix(err.Error(), "jsontext: "))
		case err != nil || complete:
			return x.explain(err)
		}
	}
}

// send makes the one request. No redirect is followed, because the key would go along.
func (x *exchange) send(ctx context.Context, call Call, w *watch) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, call.URL, bytes.NewReader(call.Body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", mediaType)
	if call.Framing != nil {
		req.Header.Set("Accept", call.Framing.MediaType)
	}
	req.Header.Set("User-Agent", "xcsh-ls")
	for name, values := range call.Header {
		req.Header[http.CanonicalHeaderKey(name)] = values
	}
	for name, value := range x.req.Model.Headers {
		req.Header.Set(name, value)
	}
	client := http.Client{
		Transport:     x.options.transport(),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	w.start()
	defer w.stop()
	return client.Do(req)
}

// check makes an error of an answer that is not a stream of events.
func (x *exchange) check(resp *http.Response, accepted string, body io.Reader) *provider.Error {
	x.status = resp.StatusCode
	for _, name := range []string{"Request-Id", "X-Request-Id", "X-Amzn-Requestid"} {
		if x.id == "" {
			x.id = resp.Header.Get(name)
		}
	}
	const enough = 64 << 10
	switch kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); {
	case x.status >= 300 && x.status < 400:
		return x.fail(provider.Protocol, "it redirects to "+target(resp)+
			", and the key is not sent there; if the address is correct, set it as the base URL")
	case x.status/100 == 2 && kind == accepted:
		return nil
	default:
		page, _ := io.ReadAll(io.LimitReader(body, enough)) // a partial page is enough to report
		problem, known := parseProblem(page)
		if x.status/100 == 2 && !known {
			shown := words(page)
			if shown == "" {
				shown = "nothing"
			}
			return x.fail(provider.Protocol, "status "+resp.Status+" with "+shown)
		}
		failure := x.explain(problem)
		if delay := retryAfter(resp.Header, x.options.now()); delay > 0 {
			failure.RetryAfter = delay
		}
		return failure
	}
}

// target returns the target of a redirect, without the parts that may be secret.
func target(resp *http.Response) string {
	to, err := resp.Location()
	if err != nil {
		return "an unknown address"
	}
	return (&url.URL{Scheme: to.Scheme, Host: to.Host, Path: to.Path}).String()
}

// Encode writes a request body. Equal values give equal bytes, because services cache the beginning
// of a conversation.
func Encode(v any) ([]byte, error) {
	return jsonv2.Marshal(v, jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true), jsonv2.Deterministic(true))
}

// Count is a number of tokens. Some services send it with a fraction, or as null.
type Count int

// UnmarshalJSON reads any number.
func (c *Count) UnmarshalJSON(data []byte) error {
	var f float64
	if Decode(data, &f) == nil && f >= 0 && f < 1e12 {
		*c = Count(f)
	}
	return nil
}
