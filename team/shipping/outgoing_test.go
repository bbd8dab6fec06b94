package shipping_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"go/parser"
	"go/printer"
	"go/token"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
	"github.com/xcsh-ls/xcsh-ls/team/shipping"
)

// sent sends a body in batches of at most the sizes of next, and returns what left.
func sent(t *testing.T, o *shipping.Outgoing, body []byte, next func() int) []byte {
	t.Helper()
	var store []byte
	for {
		lines, err := shipping.Lines(bytes.NewReader(body), o.File().Len, next(), nil)
		require.NoError(t, err)
		if lines == nil {
			return store
		}
		before := o.Out()
		b := o.Batch(lines)
		require.Equal(t, before, o.Out(), "a batch changes nothing until it was sent")
		require.Equal(t, before, b.From)
		store = append(store, b.Bytes...)
		require.Equal(t, pointOf(store), b.To)
		o.Sent(b)
		require.Equal(t, b.To, o.Out())
	}
}

// TestWithoutRedactionTheBodyLeavesAsItIs: every fixture, in batches of any size, byte for byte up to its last whole line.
func TestWithoutRedactionTheBodyLeavesAsItIs(t *testing.T) {
	t.Parallel()
	for name, content := range fixtures(t) {
		h, err := shipping.ReadHead(bytes.NewReader(content))
		if err != nil {
			continue
		}
		body := content[h.Len():]
		for _, size := range []int{1, 100, 4096, 1 << 20} {
			o := shipping.NewOutgoing(rules(t, 0))
			require.Equal(t, string(whole(body)), string(sent(t, o, body, func() int { return size })), name)
			require.Equal(t, pointOf(whole(body)), o.File())
			require.Empty(t, o.Replaced())
		}
	}
}

// TestWhatLeavesDoesNotDependOnBatches: the lines and both checksums are the same however the body is cut, lines stay JSON, and sending what
// left again changes nothing.
func TestWhatLeavesDoesNotDependOnBatches(t *testing.T) {
	t.Parallel()
	by := rules(t, shipping.CurrentRules, "secret-of-the-user")
	r := rand.New(rand.NewPCG(1, 2))
	for name, content := range fixtures(t) {
		h, err := shipping.ReadHead(bytes.NewReader(content))
		if err != nil {
			continue
		}
		body := withSecrets(content[h.Len():])
		one := shipping.NewOutgoing(by)
		want := sent(t, one, body, func() int { return 1 << 20 })
		many := shipping.NewOutgoing(by)
		require.Equal(t, string(want), string(sent(t, many, body, func() int { return 1 + r.IntN(5000) })), name)
		require.Equal(t, one.File(), many.File())
		require.Equal(t, one.Out(), many.Out())
		require.Equal(t, one.Replaced(), many.Replaced())
		require.NotContains(t, string(want), key)
		requireLinesLike(t, whole(body), want)
		again := shipping.NewOutgoing(by)
		require.Equal(t, string(want), string(sent(t, again, want, func() int { return 4096 })), name)
		require.Empty(t, again.Replaced())
	}
}

// withSecrets adds lines with secrets of each place: a value, a name, a damaged line.
func withSecrets(body []byte) []byte {
	return append(bytes.Clone(whole(body)), st.File(
		st.User("5e50bcb8", "", "my key is "+key), `{"type":"custom","customType":"x","data":{"`+key+`":"secret-of-the-user"}}`,
		"garbage "+key+" \xff", `{"torn":"`+key,
	)...)
}

// requireLinesLike requires that lines which are JSON are JSON on the other side.
func requireLinesLike(t *testing.T, from, to []byte) {
	t.Helper()
	a, b := bytes.Split(from, []byte("\n")), bytes.Split(to, []byte("\n"))
	require.Len(t, b, len(a))
	for i := range a {
		if rawjson.Valid(a[i]) {
			require.True(t, rawjson.Valid(b[i]), "%s", a[i])
		}
	}
}

// TestCatchingUp: reading the file again arrives at the point at which the session was left, whatever was redacted, and distinguishes a body
// that is shorter from a different one.
func TestCatchingUp(t *testing.T) {
	t.Parallel()
	for _, version := range []int{0, shipping.CurrentRules} {
		by := rules(t, version)
		for name, content := range fixtures(t) {
			h, err := shipping.ReadHead(bytes.NewReader(content))
			if err != nil {
				continue
			}
			body := withSecrets(content[h.Len():])
			o := shipping.NewOutgoing(by)
			points := []shipping.Point{o.Out()}
			for {
				lines, err := shipping.Lines(bytes.NewReader(body), o.File().Len, 700, nil)
				require.NoError(t, err)
				if lines == nil {
					break
				}
				o.Sent(o.Batch(lines))
				points = append(points, o.Out())
			}
			for _, p := range []shipping.Point{points[0], points[len(points)/2], points[len(points)-1]} {
				got, fits, err := shipping.CatchUp(t.Context(), iotest.HalfReader(bytes.NewReader(body)), by, p.Len)
				require.NoError(t, err)
				require.True(t, fits, name)
				require.Equal(t, p, got.Out(), name)
				if p.Len > 0 {
					_, fits, err = shipping.CatchUp(t.Context(), bytes.NewReader(body), by, p.Len-1)
					require.NoError(t, err)
					require.False(t, fits, name)
				}
			}
			last := points[len(points)-1]
			got, fits, err := shipping.CatchUp(t.Context(), bytes.NewReader(append(body, "torn"...)), by, last.Len+1)
			require.NoError(t, err)
			require.True(t, fits)
			require.Equal(t, last, got.Out(), "the body is shorter")
		}
	}
}

func TestCatchingUpStops(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, err := shipping.CatchUp(ctx, strings.NewReader("a\n"), rules(t, 0), 2)
	require.Equal(t, fault.Cancelled, fault.KindOf(err))
	_, _, err = shipping.CatchUp(t.Context(), iotest.ErrReader(st.ErrInjected), rules(t, 0), 2)
	require.Equal(t, fault.IO, fault.KindOf(err))
	require.ErrorIs(t, err, st.ErrInjected)
}

func TestLongLinesLeaveAlone(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 3<<20) + "\n"
	body := "a\n" + long + "b\nc"
	var parts []string
	for off := int64(0); ; {
		lines, err := shipping.Lines(strings.NewReader(body), off, 4096, nil)
		require.NoError(t, err)
		if lines == nil {
			break
		}
		parts = append(parts, string(lines))
		off += int64(len(lines))
	}
	require.Equal(t, []string{"a\n", long, "b\n"}, parts)
	_, err := shipping.Lines(endless{}, 0, 1<<20, nil)
	require.Equal(t, fault.TooLarge, fault.KindOf(err))
	_, _, err = shipping.CatchUp(t.Context(), endless{}, rules(t, 0), 1<<40)
	require.Equal(t, fault.TooLarge, fault.KindOf(err))
}

// endless is a file with one line that does not end.
type endless struct{}

func (endless) ReadAt(b []byte, _ int64) (int, error) { return len(b), nil }
func (endless) Read(b []byte) (int, error)            { return len(b), nil }

// FuzzOutgoing: what leaves is the same in any batches, is stable, has as many lines, and JSON stays JSON.
func FuzzOutgoing(f *testing.F) {
	for _, content := range fixtures(f) {
		f.Add(content[:min(len(content), 4096)], uint16(100))
	}
	f.Add(withSecrets(nil), uint16(1))
	by := rules(f, shipping.CurrentRules, "redacted", "secret-of-the-user")
	f.Fuzz(func(t *testing.T, body []byte, size uint16) {
		if len(body) > 8192 {
			return
		}
		one := shipping.NewOutgoing(by)
		want := sent(t, one, body, func() int { return 1 << 20 })
		many := shipping.NewOutgoing(by)
		require.Equal(t, string(want), string(sent(t, many, body, func() int { return 1 + int(size) })))
		require.Equal(t, one.Out(), many.Out())
		requireLinesLike(t, whole(body), want)
		require.Equal(t, string(want), string(sent(t, shipping.NewOutgoing(by), want, func() int { return 1 << 20 })))
		got, fits, err := shipping.CatchUp(t.Context(), bytes.NewReader(body), by, one.Out().Len)
		require.NoError(t, err)
		require.True(t, fits)
		require.Equal(t, one.Out(), got.Out())
		require.Equal(t, one.File(), got.File())
	})
}

func TestUnknownRulesSendNothing(t *testing.T) {
	t.Parallel()
	_, err := shipping.NewRules(shipping.CurrentRules + 1)
	require.Equal(t, fault.NewerVersion, fault.KindOf(err))
	_, err = shipping.NewRules(-1)
	require.Error(t, err)
}

// sumOfRules is the checksum of the code that redacts, by version of the rules.
var sumOfRules = map[int]string{1: "43aae3d57b483cc9"}

// TestTheVersionOfTheRulesIsRaised: a session whose lines are redacted in another way than before is another one for the store. So a
// change of the code that decides needs another version, unless no line has another result.
// Proves: TM-47
func TestTheVersionOfTheRulesIsRaised(t *testing.T) {
	t.Parallel()
	sum := sha256.New()
	for _, pattern := range []string{"../../session/redact/*.go", "../../session/export/redact.go", "../../session/export/line.go", "../../session/export/records.go"} {
		files, err := filepath.Glob(pattern)
		require.NoError(t, err)
		require.NotEmpty(t, files)
		for _, path := range files {
			if !strings.HasSuffix(path, "_test.go") {
				sum.Write(code(t, path))
			}
		}
	}
	require.Equal(t, sumOfRules[shipping.CurrentRules], fmt.Sprintf("%x", sum.Sum(nil)[:8]),
		"The code that decides what is redacted has changed. Raise CurrentRules and keep the former rules; if no line has another result, put the new checksum into sumOfRules.")
}

// code returns the code of a file without its comments and its layout: the positions of another set of files mean nothing.
func code(t *testing.T, path string) []byte {
	t.Helper()
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	file, err := parser.ParseFile(token.NewFileSet(), path, content, parser.SkipObjectResolution)
	require.NoError(t, err)
	var out bytes.Buffer
	for _, d := range file.Decls {
		require.NoError(t, (&printer.Config{}).Fprint(&out, token.NewFileSet(), d))
	}
	return out.Bytes()
}
