package main

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/picker"
	"github.com/xcsh-ls/xcsh-ls/session/visible"
)

// maxKeyInput bounds the text of a key on standard input, in bytes.
const maxKeyInput = 64 << 10

// key reads the API key of a service, from a terminal without showing it.
func (l login) key(ctx context.Context, s provider.Source) (string, error) {
	if screen, ok := picker.Terminal(); ok && !l.stdin {
		return l.hidden(ctx, screen, s)
	}
	if !l.stdin && !redirected(os.Stdin) {
		return "", fault.New(fault.InvalidArgument, "No API key for %s: pass it on standard input, or run the command in a terminal.", s.Name)
	}
	return awaited(ctx, func() (string, error) {
		content, err := io.ReadAll(io.LimitReader(os.Stdin, maxKeyInput+1))
		switch key := strings.TrimSpace(string(content)); {
		case err != nil:
			return "", fault.New(fault.IO, "Cannot read standard input: %w.", cause(err))
		case key == "":
			return "", fault.New(fault.InvalidArgument, "Standard input has no API key.")
		default:
			return key, nil
		}
	})
}

// hidden asks for a key on the terminal. It turns off the echo before it asks, because a key may be pasted at once.
func (l login) hidden(ctx context.Context, screen picker.Screen, s provider.Source) (string, error) {
	if s.KeyPage != "" {
		l.tell("Create an API key at %s", s.KeyPage)
	}
	fd := int(screen.In.Fd())
	before, err := term.MakeRaw(fd)
	if err != nil {
		return "", fault.New(fault.IO, "The key cannot be read without showing it: %w.", err)
	}
	defer func() { _ = term.Restore(fd, before) }()
	prompt := "API key of " + visible.Line(s.Name) + " (not shown): "
	key, err := awaited(ctx, func() (string, error) {
		return term.NewTerminal(struct {
			io.Reader
			io.Writer
		}{screen.In, screen.Out}, "").ReadPassword(prompt)
	})
	key = strings.TrimSpace(key)
	switch {
	case errors.Is(err, io.EOF), err == nil && key == "": // of an interrupt, too
		return "", fault.New(fault.Cancelled, "Nothing was changed.")
	case err != nil && !fault.Is(err, fault.Cancelled):
		return "", fault.New(fault.IO, "The key cannot be read: %w.", err)
	}
	return key, err
}

// awaited returns the result of read, or a Cancelled error when ctx ends.
func awaited(ctx context.Context, read func() (string, error)) (string, error) {
	type result struct {
		text string
		err  error
	}
	done := make(chan result, 1)
	go func() {
		text, err := read()
		done <- result{text, err}
	}()
	select {
	case r := <-done:
		return r.text, r.err
	case <-ctx.Done():
		return "", fault.New(fault.Cancelled, "Nothing was changed.")
	}
}
