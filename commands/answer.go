package commands

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"unicode/utf8"
)

type answerKey struct{} // the writer of [WithAnswer]

// WithAnswer returns the context of a call that takes a large result as its JSON, written to w, which may have the length of a
// session. A command that does so returns an empty result; if nothing was written, the returned result counts. After an error, what was
// written is of no use.
func WithAnswer(ctx context.Context, w io.Writer) context.Context {
	return context.WithValue(ctx, answerKey{}, w)
}

// AnswerOf returns the writer of [WithAnswer], or nil if the result must be returned.
func AnswerOf(ctx context.Context) io.Writer {
	w, _ := ctx.Value(answerKey{}).(io.Writer)
	return w
}

// jsonText writes text as the inside of a JSON string, as encoding/json encodes it without escaping HTML. Bytes of an incomplete
// character wait for the next ones.
type jsonText struct {
	to      io.Writer
	waiting []byte
	encoded bytes.Buffer
}

func (t *jsonText) Write(b []byte) (int, error) {
	t.waiting = append(t.waiting, b...)
	whole := len(t.waiting)
	for i := 1; i < utf8.UTFMax && i <= whole; i++ {
		if c := t.waiting[whole-i:]; utf8.RuneStart(c[0]) {
			if !utf8.FullRune(c) {
				whole -= i
			}
			break
		}
	}
	err := t.encode(t.waiting[:whole])
	t.waiting = t.waiting[:copy(t.waiting, t.waiting[whole:])]
	return len(b), err
}

// finish writes what waits.
func (t *jsonText) finish() error {
	if len(t.waiting) == 0 {
		return nil
	}
	return t.encode(t.waiting)
}

func (t *jsonText) encode(b []byte) error {
	t.encoded.Reset()
	e := json.NewEncoder(&t.encoded)
	e.SetEscapeHTML(false)
	if err := e.Encode(string(b)); err != nil {
		return err
	}
	quoted := bytes.TrimSuffix(t.encoded.Bytes(), []byte("\n"))
	_, err := t.to.Write(quoted[1 : len(quoted)-1])
	return err
}
