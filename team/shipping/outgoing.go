package shipping

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"maps"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
	"github.com/xcsh-ls/xcsh-ls/session/export"
	"github.com/xcsh-ls/xcsh-ls/session/redact"
)

// Outgoing makes of the lines of a session what leaves this machine. What leaves, leaves through it. It is not safe for concurrent
// use.
type Outgoing struct {
	rules     Rules
	file, out Running // of the lines that were sent; out only counts if the rules redact
	replaced  map[string]int
}

// NewOutgoing returns the Outgoing of a session of which nothing was sent.
func NewOutgoing(rules Rules) *Outgoing { return &Outgoing{rules: rules, replaced: map[string]int{}} }

// Rules returns the rules.
func (o *Outgoing) Rules() Rules { return o.rules }

// File returns the end of the sent lines in the body of the file.
func (o *Outgoing) File() Point { return o.file.Point() }

// Out returns the end of the sent lines as the store has them.
func (o *Outgoing) Out() Point {
	if o.rules.scanner == nil {
		return o.file.Point()
	}
	return o.out.Point()
}

// Replaced returns how many secrets of each kind were replaced in the sent lines.
func (o *Outgoing) Replaced() map[string]int { return maps.Clone(o.replaced) }

// Batch is some lines on their way.
type Batch struct {
	Bytes     []byte // as they leave
	From, To  Point  // in the lines as they leave
	Replaced  map[string]int
	file, out Running // behind the lines
}

// Batch returns lines as they leave. They are whole lines of the body behind [Outgoing.File], which stays where it is until the batch was
// sent.
func (o *Outgoing) Batch(lines []byte) Batch {
	b := Batch{Bytes: lines, From: o.Out(), file: o.file.Clone(), out: o.out.Clone()}
	b.file.Write(lines)
	if o.rules.scanner == nil {
		b.To = b.file.Point()
		return b
	}
	b.Bytes, b.Replaced = o.rules.lines(lines)
	b.out.Write(b.Bytes)
	b.To = b.out.Point()
	return b
}

// Sent records that a batch is in the store.
func (o *Outgoing) Sent(b Batch) {
	o.file, o.out = b.file, b.out
	for kind, n := range b.Replaced {
		o.replaced[kind] += n
	}
}

// Head returns a head as it leaves; see [Head.Shipped]. Its titles are redacted, too. The error is of kind damaged for a header whose id
// looks like a secret: with another id it would be another session.
func (o *Outgoing) Head(h Head, folder string) (Head, error) {
	h = h.Shipped(folder)
	if o.rules.scanner == nil {
		return h, nil
	}
	r := export.Redactor{Scanner: o.rules.scanner}
	mark := h.Raw[:len(h.Raw)-len(bytes.TrimPrefix(h.Raw, []byte(byteOrderMark)))]
	raw := bytes.Clone(mark)
	at := len(mark)
	for line := range bytes.Lines(h.Raw[at:]) {
		isSlot := h.HasSlot() && at <= h.slot.from && h.slot.from < at+len(line)
		at += len(line)
		line = bytes.TrimSuffix(line, []byte("\n"))
		if isSlot {
			line = slotLine(&r, line)
		} else {
			line = r.Line(line)
		}
		raw = append(append(raw, line...), '\n')
	}
	redacted, err := ParseHead(raw)
	if err != nil || redacted.Header().ID != h.Header().ID {
		return Head{}, fault.New(fault.Damaged, "The id of the session looks like a secret, so the session is not sent to the team.")
	}
	return redacted, nil
}

// slotLine redacts a title slot, which keeps its length: programs write into it in place.
func slotLine(r *export.Redactor, line []byte) []byte {
	changed := r.Line(line)
	if bytes.Equal(changed, line) {
		return line
	}
	bare := rawjson.SetString(changed, "pad", "")
	if len(bare) > len(line) {
		bare = rawjson.SetString(bare, "title", redact.Replacement("named"))
	}
	return rawjson.SetString(bare, "pad", string(bytes.Repeat([]byte{' '}, max(0, len(line)-len(bare)))))
}

// lines redacts whole lines.
func (r Rules) lines(lines []byte) (out []byte, replaced map[string]int) {
	redactor := export.Redactor{Scanner: r.scanner}
	out = make([]byte, 0, len(lines))
	for line := range bytes.Lines(lines) {
		out = append(append(out, redactor.Line(bytes.TrimSuffix(line, []byte("\n")))...), '\n')
	}
	return out, redactor.Counts()
}

// CatchUp reads a body from its beginning until as many bytes as until have left by the rules, and returns the Outgoing of a session
// whose lines up to there were sent. fits is false if no line ends there. If the body is shorter, it is read to its
// last whole line; then fits is true and [Outgoing.Out] is before until.
//
// The error is that of ctx or of body.
func CatchUp(ctx context.Context, body io.Reader, rules Rules, until int64) (o *Outgoing, fits bool, err error) {
	o = NewOutgoing(rules)
	lines := bufio.NewReaderSize(body, int(min(until, 1<<20))) // as most sessions are short
	for o.Out().Len < until {
		if err := ctx.Err(); err != nil {
			return nil, false, fault.New(fault.Cancelled, "The session was not compared with the team's store: %w.", err)
		}
		line, err := wholeLines(lines)
		if err != nil {
			return nil, false, err
		}
		if line == nil {
			return o, true, nil
		}
		if rules.scanner == nil && o.file.n+int64(len(line)) > until {
			line = line[:until-o.file.n] // lines were read together
			if line[len(line)-1] != '\n' {
				return o, false, nil
			}
		}
		b := o.Batch(line)
		if b.To.Len > until {
			return o.upTo(line, until)
		}
		o.Sent(b)
	}
	return o, true, nil
}

// upTo sends lines one by one until the end is reached or crossed.
func (o *Outgoing) upTo(lines []byte, until int64) (*Outgoing, bool, error) {
	for line := range bytes.Lines(lines) {
		b := o.Batch(line)
		if b.To.Len > until {
			break
		}
		o.Sent(b)
	}
	return o, o.Out().Len == until, nil
}

// wholeLines returns the next lines, at least one. It is nil if no whole line follows.
func wholeLines(r *bufio.Reader) ([]byte, error) {
	if _, err := r.Peek(1); err != nil {
		return nil, endOf(err)
	}
	buffered, _ := r.Peek(r.Buffered())
	if at := bytes.LastIndexByte(buffered, '\n'); at >= 0 {
		lines := bytes.Clone(buffered[:at+1])
		_, _ = r.Discard(at + 1) // buffered
		return lines, nil
	}
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		switch line = append(line, part...); {
		case err == nil:
			return line, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, endOf(err)
		case len(line) > longest:
			return nil, errLineTooLong()
		}
	}
}

func endOf(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return fault.New(fault.IO, "Cannot read the session file: %w.", err)
}
