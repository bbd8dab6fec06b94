package guard

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
)

type got struct {
	name, data string
	cut        bool
}

func readAll(t *testing.T, in io.Reader) []got {
	t.Helper()
	r := newEventReader(in)
	var all []got
	for {
		e, err := r.next()
		if errors.Is(err, io.EOF) {
			return all
		}
		require.NoError(t, err)
		all = append(all, got{e.Name, string(e.Data), e.Cut})
	}
}

func TestEventStream(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		in   string
		want []got
	}{
		"two events":                     {"event: a\ndata: 1\n\ndata: 2\n\n", []got{{"a", "1", false}, {"", "2", false}}},
		"lines of data are joined":       {"data: 1\ndata:  2\ndata\n\n", []got{{"", "1\n 2\n", false}}},
		"CRLF":                           {"event: a\r\ndata: 1\r\n\r\ndata: 2\r\n\r\n", []got{{"a", "1", false}, {"", "2", false}}},
		"CR":                             {"event: a\rdata: 1\r\rdata: 2\r\r", []got{{"a", "1", false}, {"", "2", false}}},
		"mixed ends":                     {"data: 1\r\ndata: 2\n\rdata: 3\n\n", []got{{"", "1\n2", false}, {"", "3", false}}},
		"comments and unknown fields":    {": hi\n\nid: 1\nretry: 5\ndata: 1\n:\n\n", []got{{"", "1", false}}},
		"an event without data has none": {"event: a\n\ndata: 1\n\n", []got{{"", "1", false}}},
		"a byte order mark":              {"\uFEFFdata: 1\n\n", []got{{"", "1", false}}},
		"no blank line at the end":       {"data: 1\n\ndata: 2", []got{{"", "1", false}, {"", "2", true}}},
		"empty data":                     {"data:\n\n", []got{{"", "", false}}},
		"nothing":                        {"", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, readAll(t, strings.NewReader(c.in)))
			require.Equal(t, c.want, readAll(t, iotest.OneByteReader(strings.NewReader(c.in))))
		})
	}
}

// An event has to be there when its blank line is, also when that ends in a CR, which an
// LF may follow.
func TestEventsDoNotWaitForTheNextLine(t *testing.T) {
	t.Parallel()
	pr, pw := io.Pipe()
	go func() { _, _ = io.WriteString(pw, "data: 1\r\r") }()
	e, err := newEventReader(pr).next()
	require.NoError(t, err)
	require.Equal(t, "1", string(e.Data))
	require.NoError(t, pw.Close())
}

func TestEventStreamLimit(t *testing.T) {
	t.Parallel()
	require.GreaterOrEqual(t, newEventReader(nil).limit, 64<<20)
	for name, in := range map[string]string{
		"a line":     "data: " + strings.Repeat("x", 200) + "\n\n",
		"many lines": strings.Repeat("data: xxxxxxxxxxxxxxxxxxxx\n", 10) + "\n",
		"no end":     ":" + strings.Repeat("x", 200),
	} {
		r := newEventReader(strings.NewReader(in))
		r.limit = 100
		_, err := r.next()
		require.ErrorIs(t, err, errTooLong, name)
	}
	r := newEventReader(iotest.TimeoutReader(iotest.OneByteReader(strings.NewReader("data: 1\n\n"))))
	_, err := r.next()
	require.ErrorIs(t, err, iotest.ErrTimeout)
}

// FuzzEventStream checks that a stream that arrives in pieces gives the same events as one that
// arrives at once.
func FuzzEventStream(f *testing.F) {
	for _, s := range []string{"data: 1\r\n\r\n", "event: x\rdata: 1\r\r", ":\n\ndata\n\n", "\uFEFFdata:x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		require.Equal(t, readAll(t, strings.NewReader(in)), readAll(t, iotest.OneByteReader(strings.NewReader(in))))
	})
}
