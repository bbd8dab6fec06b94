package child

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/textproto"
	"regexp"
	"strconv"
	"time"
)

// Answer is the answer to a request.
type Answer struct {
	ID     int
	Size   int64           // bytes of the message
	Result json.RawMessage // nil if there is none, or if the message is larger than [MaxKept]
	Digest string          // of the result of a larger message
	Kind   string          // of the error; "" if there is none
	Text   string          // of the error
}

// MaxKept is the size in bytes up to which the content of an answer is kept.
const MaxKept = 16 << 20

// notification is the beginning of every notification of the server; that of its requests has an id.
var notification = []byte(`{"jsonrpc":"2.0","method":`)

// read passes on the answers of the server and refuses its requests, until its output ends.
func (s *Server) read(out *bufio.Reader) {
	for {
		err := s.readMessage(out)
		if err != nil {
			s.failed <- err
			return
		}
	}
}

func (s *Server) readMessage(out *bufio.Reader) error {
	header, err := textproto.NewReader(out).ReadMIMEHeader()
	if err != nil {
		return err
	}
	size, err := strconv.ParseInt(header.Get("Content-Length"), 10, 64)
	if err != nil {
		return fmt.Errorf("bad Content-Length: %w", err)
	}
	body := io.LimitReader(out, size)
	if size > MaxKept {
		a, err := s.large(body, size)
		if err == nil {
			s.answer <- response{a, time.Now()}
		}
		return err
	}
	content := make([]byte, size)
	if _, err := io.ReadFull(body, content); err != nil {
		return err
	}
	arrived := time.Now()
	if s.watch != nil && bytes.HasPrefix(content, notification) {
		s.watch(content, arrived)
		return nil
	}
	var m struct {
		ID     json.RawMessage
		Method string
		Result json.RawMessage
		Error  *struct {
			Message string
			Data    struct{ Kind string }
		}
	}
	if err := json.Unmarshal(content, &m); err != nil {
		return err
	}
	switch {
	case m.Method != "" && m.ID != nil: // this client supports nothing that the server could ask for
		return s.send(map[string]any{"id": m.ID, "result": nil})
	case m.Method != "":
		return nil
	}
	<-s.keep
	a := Answer{Size: size, Result: m.Result}
	if m.Error != nil {
		a.Kind, a.Text = m.Error.Data.Kind, m.Error.Message
		if a.Kind == "" {
			a.Kind = "error"
		}
	}
	if a.ID, err = strconv.Atoi(string(m.ID)); err != nil {
		return err
	}
	s.answer <- response{a, arrived}
	return nil
}

// prefix is the beginning of every answer of the server.
var prefix = regexp.MustCompile(`^\{"jsonrpc":"2\.0","id":(\d+),"result":`)

// large reads an answer without keeping it.
func (s *Server) large(body io.Reader, size int64) (Answer, error) {
	head := make([]byte, 64)
	if _, err := io.ReadFull(body, head); err != nil {
		return Answer{}, err
	}
	m := prefix.FindSubmatch(head)
	if m == nil {
		return Answer{}, fmt.Errorf("a message of %d bytes begins with %q", size, head)
	}
	a := Answer{Size: size}
	a.ID, _ = strconv.Atoi(string(m[1])) // digits
	if !<-s.keep {
		_, err := io.Copy(io.Discard, body)
		return a, err
	}
	h := sha256.New()
	h.Write(head[len(m[0]):])
	_, err := io.Copy(h, body)
	a.Digest = hex.EncodeToString(h.Sum(nil))
	return a, err
}

// tail keeps the end of the server's log, for errors.
type tail struct{ b []byte }

const tailSize = 2 << 10

func (t *tail) Write(b []byte) (int, error) {
	t.b = append(t.b, b...)
	t.b = t.b[max(0, len(t.b)-tailSize):]
	return len(b), nil
}

func (t *tail) text() string { return string(bytes.TrimSpace(t.b)) }
