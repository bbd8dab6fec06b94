package suite

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/bench/wire/child"
)

// content is an answer in a form that can be compared: the value of its JSON without what differs between two
// calls, a digest, or the kind of the error.
type content any

// volatile are the fields that may differ between two calls. Cursors are opaque.
var volatile = []string{"timeAgo", "seq", "cursor", "next", "nextCursor"}

// stable returns a as a value to compare. Paths below dir are replaced, because each program has its own.
func stable(a child.Answer, dir string) (content, error) {
	switch {
	case a.Kind != "":
		return "error " + a.Kind, nil
	case a.Result == nil:
		return "digest " + a.Digest, nil
	}
	var v any
	d := json.NewDecoder(bytes.NewReader(a.Result))
	d.UseNumber()
	err := d.Decode(&v)
	return strip(v, dir), err
}

func strip(v any, dir string) any {
	switch v := v.(type) {
	case map[string]any:
		for _, name := range volatile {
			delete(v, name)
		}
		for name, field := range v {
			v[name] = strip(field, dir)
		}
	case []any:
		for i, e := range v {
			v[i] = strip(e, dir)
		}
	case string:
		return strings.ReplaceAll(v, dir, "{dir}")
	}
	return v
}

// tooLarge is the answer of a program that refuses to send everything at once.
const tooLarge = "error tooLarge"

// answers are those to one command over one store, by program: all of one program must be equal.
type answers map[string]content

// difference returns how got differs from the earlier answers, "" if it does not. A newer program can add fields to
// the answer of the older one.
func (a answers) difference(programs []Program, p Program, got content) string {
	if want, ok := a[p.Name]; ok {
		return differs("its own earlier answer", want, got, false)
	}
	a[p.Name] = got
	if len(programs) < 2 {
		return ""
	}
	newer, ok := a[programs[0].Name]
	older, both := a[programs[1].Name]
	if !ok || !both || newer == tooLarge { // which offers pages instead
		return ""
	}
	return differs(programs[1].Name, older, newer, true)
}

// differs returns the first difference.
func differs(whose string, want, got any, more bool) string {
	if at := mismatch(want, got, more); at != "" {
		return fmt.Sprintf(" DIFFERS from %s at %s", whose, at)
	}
	return ""
}

// mismatch returns the path of the first difference, or "". With more, objects of got can have more fields.
func mismatch(want, got any, more bool) string {
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok || !more && len(w) != len(g) {
			return "fields " + short(want) + " and " + short(got)
		}
		for _, name := range slices.Sorted(maps.Keys(w)) {
			field, ok := g[name]
			if !ok {
				return "." + name + ", which is missing"
			}
			if at := mismatch(w[name], field, more); at != "" {
				return "." + name + at
			}
		}
		return ""
	case []any:
		g, ok := got.([]any)
		if !ok || len(w) != len(g) {
			return "length of " + short(want) + " and " + short(got)
		}
		for i := range w {
			if at := mismatch(w[i], g[i], more); at != "" {
				return fmt.Sprintf("[%d]%s", i, at)
			}
		}
		return ""
	}
	if want != got {
		return " " + short(want) + " and " + short(got)
	}
	return ""
}

func short(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(text[:min(len(text), 120)])
}

// fileDigest digests a file.
func fileDigest(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	_, err = io.Copy(h, f)
	return hex.EncodeToString(h.Sum(nil)), err
}

// sameEntries compares what follows the header, and a title line before it, in two files. Less than a kilobyte more can follow in
// the second.
func sameEntries(path, longer string) error {
	a, closeA, err := entries(path)
	if err != nil {
		return err
	}
	defer closeA()
	b, closeB, err := entries(longer)
	if err != nil {
		return err
	}
	defer closeB()
	bufA, bufB := make([]byte, 1<<20), make([]byte, 1<<20)
	for {
		n, errA := io.ReadFull(a, bufA)
		m, errB := io.ReadFull(b, bufB[:n])
		if m < n || !bytes.Equal(bufA[:n], bufB[:n]) {
			return errors.New("the copy differs from the original")
		}
		if errA == nil {
			continue
		}
		rest, _ := b.Peek(1 << 10)
		if ended := errors.Is(errA, io.EOF) || errors.Is(errA, io.ErrUnexpectedEOF); !ended || errB != nil || len(rest) == 1<<10 {
			return fmt.Errorf("the copy has more than the original %w", errors.Join(errA, errB))
		}
		return nil
	}
}

// entries returns a reader at the first entry of a session.
func entries(path string) (r *bufio.Reader, closeFile func(), err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	r = bufio.NewReaderSize(f, 1<<20)
	for {
		line, err := r.ReadSlice('\n')
		if err != nil {
			_ = f.Close()
			return nil, nil, err
		}
		if !bytes.HasPrefix(line, []byte(`{"type":"title"`)) {
			return r, func() { _ = f.Close() }, nil
		}
	}
}
