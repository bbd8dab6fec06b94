package main

import (
	"bytes"
	"context"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/mattn/go-isatty"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

const (
	// maxStdin bounds the text of a prompt from standard input, in bytes. It exceeds the context
	// windows of models.
	maxStdin = 4 << 20

	// stdinNotice is how long standard input may send nothing before the user is notified, and
	// stdinLimit how long after that a command with another prompt waits for the first text.
	stdinNotice = 5 * time.Second
	stdinLimit  = 10 * time.Minute
)

// redirected reports whether a file that is standard input has text for a prompt: a file, a pipe, a FIFO
// or a socket. A terminal and other devices, such as the /dev/null of cron, have none, and neither has a
// standard input that is closed.
func redirected(f *os.File) bool {
	info, err := f.Stat()
	if err != nil || isatty.IsCygwinTerminal(f.Fd()) { // which is a pipe
		return false
	}
	return info.Mode()&(fs.ModeDevice|fs.ModeCharDevice|fs.ModeDir) == 0
}

// Notices of [stdinText].
const (
	waitingForPrompt = "Waiting for the end of standard input."
	waitingForMore   = waitingForPrompt + " To send only the prompt, run the command with </dev/null."
)

// stdinText reads the text of a prompt up to the end of in. only reports that the prompt has no other
// text. notify shows the user a sentence. After the end of ctx the read continues in the background.
//
// A pipe of a slow program looks like an inherited one that is never written to or closed. Continuing
// without the text would lose that of the program, so a notice is shown and, if the prompt could be
// sent without it and nothing arrives at all, an error is returned.
func stdinText(ctx context.Context, in io.Reader, only bool, notify func(string)) (string, error) {
	silence, noticed := time.NewTimer(stdinNotice), false
	defer silence.Stop()
	type result struct {
		content []byte
		err     error
	}
	arrived, done := make(arrival, 1), make(chan result, 1)
	go func() {
		content, err := io.ReadAll(io.TeeReader(io.LimitReader(in, maxStdin+1), arrived))
		done <- result{content, err}
	}()
	for {
		select {
		case <-silence.C:
			if noticed {
				return "", fault.New(fault.InvalidArgument,
					"Nothing arrived on standard input for %d minutes. To send only the prompt, run the command with </dev/null.", stdinLimit/time.Minute)
			}
			noticed = true
			if only {
				notify(waitingForPrompt)
			} else {
				notify(waitingForMore)
				silence.Reset(stdinLimit)
			}
		case <-arrived:
			silence.Stop()
		case r := <-done:
			if r.err != nil {
				return "", fault.New(fault.IO, "Cannot read standard input: %w.", cause(r.err))
			}
			return promptText(r.content, notify)
		case <-ctx.Done():
			return "", fault.New(fault.Cancelled, "The command was stopped before the end of standard input. Nothing was sent.")
		}
	}
}

// arrival is a writer that signals that anything was written. It has room for one signal.
type arrival chan struct{}

func (a arrival) Write(p []byte) (int, error) {
	select {
	case a <- struct{}{}:
	default:
	}
	return len(p), nil
}

// promptText returns the content of standard input as text. Git shows files in any encoding, so that
// bytes that are not UTF-8 are replaced and not refused.
func promptText(content []byte, notify func(string)) (string, error) {
	content = bytes.TrimPrefix(content, []byte("\ufeff"))
	switch {
	case len(content) > maxStdin:
		return "", fault.New(fault.InvalidArgument, "Standard input is longer than %d MB. Save it to a file and name the file in the prompt.", maxStdin>>20)
	case bytes.IndexByte(content, 0) >= 0:
		return "", fault.New(fault.InvalidArgument, "Standard input is not text. To attach an image, pass @FILE.")
	}
	text := strings.ToValidUTF8(string(content), "\ufffd")
	if text != string(content) {
		notify("Standard input is not UTF-8. Invalid bytes were replaced by U+FFFD.")
	}
	return strings.TrimRight(text, " \t\r\n"), nil
}
