package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/session/visible"
)

const (
	barDelay    = 500 * time.Millisecond // a shorter operation has no bar
	barInterval = 100 * time.Millisecond // between two drawings
	barWidth    = 24                     // in cells
)

// clock is the time by which a bar is drawn.
type clock struct {
	now   func() time.Time
	after func(d time.Duration, f func()) (stop func() bool) // calls f after d
}

// wallClock is the clock of the machine.
var wallClock = clock{time.Now, func(d time.Duration, f func()) func() bool { return time.AfterFunc(d, f).Stop }}

// bar shows the progress of a long operation on the terminal that is standard error. It appears if the operation takes long, and
// disappears at its end. It is safe for concurrent use.
type bar struct {
	title string
	clock clock
	stop  func() bool // of the timer; nil without a terminal

	mu      sync.Mutex // guards all below
	line    statusLine
	ended   bool
	due     bool      // the operation takes long
	drawn   time.Time // when it was last drawn
	percent int       // negative: unknown
	note    string    // behind the bar, escaped
}

// startBar starts the progress of an operation on standard error. A quiet bar is never shown.
func startBar(title string, quiet bool) *bar {
	return newBar(title, quiet, stderrLine(), wallClock)
}

func newBar(title string, quiet bool, line statusLine, c clock) *bar {
	if quiet {
		line.terminal = nil
	}
	b := &bar{title: title, clock: c, line: line, percent: -1}
	if line.terminal != nil {
		b.stop = c.after(barDelay, b.appear)
	}
	return b
}

func (b *bar) appear() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.due = true
	b.drawLocked()
}

// Report replaces the progress; percent is negative if it is unknown.
func (b *bar) Report(note string, percent int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.note, b.percent = visible.Line(note), min(percent, 100)
	if b.due && b.clock.now().Sub(b.drawn) >= barInterval {
		b.drawLocked()
	}
}

// End removes the bar. The summary is not shown: the command prints its result.
func (b *bar) End(string) {
	if b.stop != nil {
		b.stop()
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ended = true
	b.line.clear()
}

// before returns a writer to w, standard output. The bar ends with the first output, unless that goes to a file.
func (b *bar) before(w io.Writer) io.Writer {
	if isFile(os.Stdout) {
		return w
	}
	return endingBar{w, b}
}

// isFile reports whether an output is a file. A terminal shows the output itself, and the program that reads a pipe, such as a pager,
// may use the terminal.
func isFile(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode().IsRegular()
}

// endingBar is a writer whose output ends a bar, which would be in the middle of it.
type endingBar struct {
	io.Writer
	bar *bar
}

func (e endingBar) Write(b []byte) (int, error) {
	e.bar.End("")
	return e.Writer.Write(b)
}

// bytes reports that done of total bytes are done; total is 0 if it is unknown.
func (b *bar) bytes(done, total int64) {
	if total <= 0 {
		b.Report(sizeText(done), -1)
		return
	}
	b.Report(sizeText(total), int(100*min(done, total)/total))
}

// count reports that done of total steps are done.
func (b *bar) count(done, total int) { b.Report("", 100*done/max(total, 1)) }

// files reports a number of files of which the total is unknown.
func (b *bar) files(n int) { b.Report(plural(n, "file", "files"), -1) }

func (b *bar) drawLocked() {
	if b.ended || b.line.terminal == nil {
		return
	}
	b.drawn = b.clock.now()
	parts := []string{b.title}
	if b.percent >= 0 {
		done := barWidth * b.percent / 100
		parts = append(parts, fmt.Sprintf("[%s%s] %3d%%", strings.Repeat("#", done), strings.Repeat("-", barWidth-done), b.percent))
	}
	if b.note != "" {
		parts = append(parts, b.note)
	}
	b.line.show(strings.Join(parts, "  "))
}

// shellUI shows the progress of commands on the terminal, and nothing else.
type shellUI struct {
	commands.Headless
	line  statusLine
	clock clock
}

// Progress starts a bar.
func (u shellUI) Progress(_ context.Context, title string) commands.Progress {
	return newBar(title, false, u.line, u.clock)
}
