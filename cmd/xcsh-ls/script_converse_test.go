package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/textproto"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
)

// converse FILE PROGRAM ARGS...: runs a program as an editor does. It sends the messages of a file, one
// per line, and prints the responses, one per line; any other output is an error. A response is sent
// after its request has arrived, and shutdown after every earlier request was answered, because a server
// that shuts down does not wait for slow requests. It exits with the program's exit code.
func converse() {
	code, err := converseWith(os.Args[1], exec.CommandContext(context.Background(), os.Args[2], os.Args[3:]...))
	if err != nil {
		fmt.Fprintln(os.Stderr, "converse:", err)
		code = 99
	}
	os.Exit(code)
}

func converseWith(file string, cmd *exec.Cmd) (code int, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0, err
	}
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return 0, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return 0, err
	}
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	heard := newHeard()
	read := make(chan error, 1)
	go func() { read <- heard.read(out, os.Stdout) }()
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" {
			heard.waitFor(line)
			// A server that has exited reads no more; its exit code is the result.
			_, _ = fmt.Fprintf(in, "Content-Length: %d\r\n\r\n%s", len(line), line)
		}
	}
	_ = in.Close()
	if err := <-read; err != nil {
		return 0, errors.Join(err, cmd.Process.Kill())
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); err != nil && !errors.As(err, &exit) {
		return 0, err
	}
	return cmd.ProcessState.ExitCode(), nil
}

// message holds the fields that distinguish requests, responses and notifications.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
}

// heard records the messages that a server has sent.
type heard struct {
	mu              sync.Mutex
	changed         *sync.Cond
	answered, asked map[string]bool // ids; guarded by mu
	outstanding     map[string]bool // requests sent to the server; guarded by mu
	ended           bool            // guarded by mu
}

func newHeard() *heard {
	h := &heard{answered: map[string]bool{}, asked: map[string]bool{}, outstanding: map[string]bool{}}
	h.changed = sync.NewCond(&h.mu)
	return h
}

// waitFor waits until a line may be sent, and records it if it is a request.
func (h *heard) waitFor(line string) {
	var m message
	_ = json.Unmarshal([]byte(line), &m) // a line that isn't JSON is sent unchanged
	id := string(m.ID)
	h.mu.Lock()
	defer h.mu.Unlock()
	for !h.ended && !h.maySend(m) {
		h.changed.Wait()
	}
	if m.Method != "" && id != "" {
		h.outstanding[id] = true
	}
}

// maySend requires mu.
func (h *heard) maySend(m message) bool {
	switch {
	case m.Method == "" && len(m.ID) > 0:
		return h.asked[string(m.ID)]
	case m.Method == "shutdown":
		for id := range h.outstanding {
			if !h.answered[id] {
				return false
			}
		}
	}
	return true
}

// read prints every message until the output ends. Any other output is an error.
func (h *heard) read(out io.Reader, to io.Writer) error {
	defer h.note(func() { h.ended = true })
	for r := bufio.NewReader(out); ; {
		header, err := textproto.NewReader(r).ReadMIMEHeader()
		if errors.Is(err, io.EOF) && len(header) == 0 {
			return nil
		}
		n, convErr := strconv.Atoi(header.Get("Content-Length"))
		if err = errors.Join(err, convErr); err != nil {
			return err
		}
		body := make([]byte, n)
		if _, err = io.ReadFull(r, body); err != nil {
			return err
		}
		var m message
		if err = json.Unmarshal(body, &m); err != nil {
			return fmt.Errorf("not JSON: %s", body)
		}
		if _, err = to.Write(append(bytes.TrimSpace(body), '\n')); err != nil {
			return err
		}
		h.note(func() {
			if m.Method == "" {
				h.answered[string(m.ID)] = true
			} else if len(m.ID) > 0 {
				h.asked[string(m.ID)] = true
			}
		})
	}
}

func (h *heard) note(change func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	change()
	h.changed.Broadcast()
}
