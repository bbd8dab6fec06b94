// Package model is a model's service on this machine for measurements: it speaks Anthropic's Messages, answers at once and from
// memory, and the newest prompt says what:
//
//	[[say:TEXT]]    the text, a word at a time
//	[[big:BYTES]]   a text of this length, in pieces of 4000 bytes
//	[[pieces:N]]    a text in this many pieces
//	[[slow:MS]]     before one of the above: a pause after each piece
//
// The double of pi ([enginetest]) understands the same, so that a measurement has one prompt for both.
//
// [enginetest]: github.com/xcsh-ls/xcsh-ls/agent/engine/enginetest
package model

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Service is a running service. It is safe for concurrent use.
type Service struct {
	URL string

	http  *http.Server
	ended chan error
}

// Start starts a service on loopback.
func Start(ctx context.Context) (*Service, error) {
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/messages", serve)
	s := &Service{URL: "http://" + l.Addr().String(), ended: make(chan error, 1), http: &http.Server{Handler: mux, ReadHeaderTimeout: time.Minute}}
	go func() { s.ended <- s.http.Serve(l) }()
	return s, nil
}

// Close ends the service and its connections.
func (s *Service) Close() error {
	err := s.http.Close()
	if ended := <-s.ended; !errors.Is(ended, http.ErrServerClosed) {
		err = errors.Join(err, ended)
	}
	return err
}

func serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client is gone
	}
	pieces, pause := answer(body)
	if pieces == nil {
		http.Error(w, `{"type":"error","error":{"type":"invalid_request_error","message":"The prompt does not say what to answer."}}`, http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	_ = stream(w, http.NewResponseController(w), pieces, pause) // the client may leave
}

var (
	directive = regexp.MustCompile(`^\[\[(say|big|pieces):(.*?)\]\]`)
	slow      = regexp.MustCompile(`\[\[slow:(\d+)\]\] ?$`)
)

// answer returns the pieces of the answer to a request and the pause after each, no pieces if the newest prompt does not say what
// they are.
func answer(request []byte) (pieces []string, pause time.Duration) {
	text := string(request)
	for at := strings.LastIndex(text, "[["); at >= 0; at = strings.LastIndex(text[:at], "[[") {
		m := directive.FindStringSubmatch(text[at:])
		if m == nil {
			continue
		}
		if before := slow.FindStringSubmatch(text[max(0, at-30):at]); before != nil {
			ms, _ := strconv.Atoi(before[1]) // digits
			pause = time.Duration(ms) * time.Millisecond
		}
		n, _ := strconv.Atoi(m[2]) // not of a text
		switch m[1] {
		case "say":
			pieces = strings.SplitAfter(m[2], " ")
		case "big":
			pieces = long(n)
		default:
			pieces = numbered(n)
		}
		return pieces, pause
	}
	return nil, 0
}

// long returns a text that looks like code, in large pieces.
func long(size int) (pieces []string) {
	const most = 4000
	var b strings.Builder
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, "\tfmt.Println(\"line %d\", a < b && c > d)\n", i)
	}
	text := b.String()[:size]
	for len(text) > most {
		pieces, text = append(pieces, text[:most]), text[most:]
	}
	return append(pieces, text)
}

func numbered(n int) (pieces []string) {
	for i := range n {
		pieces = append(pieces, fmt.Sprintf("word%05d ", i))
	}
	return pieces
}

// stream writes an answer. Its first piece is sent at once, and every other one if there are pauses.
func stream(w io.Writer, c *http.ResponseController, pieces []string, pause time.Duration) error {
	b := bufio.NewWriterSize(w, 64<<10)
	event(b, "message_start", map[string]any{"message": map[string]any{
		"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": []any{}, "stop_reason": nil, "stop_sequence": nil,
		"usage": map[string]any{"input_tokens": 100, "output_tokens": 1},
	}})
	event(b, "content_block_start", map[string]any{"index": 0, "content_block": map[string]any{"type": "text", "text": ""}})
	for i, piece := range pieces {
		event(b, "content_block_delta", map[string]any{"index": 0, "delta": map[string]any{"type": "text_delta", "text": piece}})
		if i == 0 || pause > 0 {
			if err := errors.Join(b.Flush(), c.Flush()); err != nil {
				return err
			}
		}
		time.Sleep(pause) // the service is slow
	}
	event(b, "content_block_stop", map[string]any{"index": 0})
	event(b, "message_delta", map[string]any{"delta": map[string]any{"stop_reason": "end_turn", "stop_sequence": nil}, "usage": map[string]any{"output_tokens": 20}})
	event(b, "message_stop", map[string]any{})
	return b.Flush()
}

// event writes an event. A failure is that of the next flush.
func event(b *bufio.Writer, name string, data map[string]any) {
	data["type"] = name
	raw, err := json.Marshal(data)
	if err != nil {
		panic(err) // an object of this package
	}
	_, _ = fmt.Fprintf(b, "event: %s\ndata: %s\n\n", name, raw)
}
