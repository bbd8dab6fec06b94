package export

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// numbered yields n lines, some of them longer than a lot. Each is valid until the next one.
func numbered(n int) iter.Seq2[json.RawMessage, error] {
	return func(yield func(json.RawMessage, error) bool) {
		var line []byte
		for i := range n {
			size := i % 100 * 700
			if i%37 == 0 {
				size = batchSize + i
			}
			line = fmt.Appendf(line[:0], `{"id":"%d","text":"%s"}`, i, strings.Repeat("x", size))
			if !yield(line, nil) {
				return
			}
			clear(line)
		}
	}
}

// Results come in the order of the lines, and each line once, whichever worker has finished first.
func TestLotsKeepTheOrder(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, 2, 400} {
		var want, got bytes.Buffer
		for line := range numbered(n) {
			want.Write(line)
		}
		next := 0
		l := lots[[]byte]{
			work: func(l *lot, out *[]byte) {
				*out = (*out)[:0]
				l.each(func(n int, line []byte) {
					if !bytes.Contains(line, fmt.Appendf(nil, `{"id":"%d",`, n)) {
						panic("another line")
					}
					*out = append(*out, line...)
				})
			},
			take: func(out *[]byte) error {
				next++
				got.Write(*out)
				return nil
			},
		}
		require.NoError(t, l.run(numbered(n), readFault))
		require.True(t, bytes.Equal(want.Bytes(), got.Bytes()))
		require.LessOrEqual(t, len(l.free), mostLearners+1, "more lots in memory")
	}
}

// An error of a line, of the writer and a panic reach the caller; no goroutine is left behind.
func TestLotsEndWithTheirFaults(t *testing.T) {
	t.Parallel()
	full := errors.New("disk full")
	copied := func(l *lot, n *int) { *n = len(l.ends) }
	l := lots[int]{work: copied, take: func(*int) error { return full }}
	require.ErrorIs(t, l.run(numbered(400), readFault), full)

	gone := errors.New("gone")
	l = lots[int]{work: copied, take: func(*int) error { return nil }}
	err := l.run(func(yield func(json.RawMessage, error) bool) {
		for line := range numbered(300) {
			if !yield(line, nil) {
				return
			}
		}
		yield(nil, gone)
	}, readFault)
	require.ErrorIs(t, err, gone)
	require.ErrorContains(t, err, "entry 300")

	l = lots[int]{work: func(l *lot, _ *int) {
		if l.first > 0 {
			panic("found a bug")
		}
	}, take: func(*int) error { return nil }}
	require.PanicsWithValue(t, "found a bug", func() { _ = l.run(numbered(400), readFault) })
}

// A document that names the entries of its path by their numbers gives what one gives that names their ids.
func TestThePathByNumbersIsThePathByIDs(t *testing.T) {
	t.Parallel()
	lines := func(yield func(json.RawMessage, error) bool) {
		for i := range 3000 {
			role := []string{"user", "assistant", "toolResult"}[i%3]
			line := fmt.Appendf(nil, `{"type":"message","id":"%08x","message":{"role":%q,"content":[{"type":"toolCall","name":"t%d"},{"type":"text","text":"%s"}],`+
				`"usage":{"input":%d,"output":0.1,"cost":{"total":0.%03d}}}}`, i, role, i, strings.Repeat("word\\n", i%60), i, i)
			if !yield(line, nil) {
				return
			}
		}
	}
	byIDs, byNumbers := Doc{Entries: lines, PathIDs: map[string]bool{}, Labels: map[string]string{"00000004": "here"}}, Doc{}
	for i := 0; i < 3000; i += 3 {
		byIDs.PathIDs[fmt.Sprintf("%08x", i+i%2)] = true
	}
	byNumbers = byIDs
	byNumbers.PathIDs = nil
	byNumbers.OnPath = func(n int) bool { return byIDs.PathIDs[fmt.Sprintf("%08x", n)] }
	var want, got bytes.Buffer
	require.NoError(t, Markdown(&want, byIDs))
	require.NoError(t, Markdown(&got, byNumbers))
	require.Contains(t, want.String(), "label: here")
	require.Contains(t, want.String(), "**t4**")
	require.Equal(t, want.String(), got.String())
}
