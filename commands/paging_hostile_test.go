package commands_test

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"math/rand"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/racetest"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
)

// forged returns a cursor whose bytes f changed, with a checksum that fits.
func forged(t *testing.T, cursor string, f func(b []byte) []byte) string {
	t.Helper()
	b, err := base64.RawURLEncoding.DecodeString(cursor)
	require.NoError(t, err)
	b = f(b[:len(b)-4])
	b = binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)))
	return base64.RawURLEncoding.EncodeToString(b)
}

// number returns a change that replaces number k of a cursor: of entries, of those in the file, the place, and the entry.
func number(k int, value uint64) func(b []byte) []byte {
	return func(b []byte) []byte {
		at := 1
		for range k {
			_, n := binary.Uvarint(b[at:])
			at += n
		}
		_, n := binary.Uvarint(b[at:])
		return append(binary.AppendUvarint(b[:at:at], value), b[at+n:]...)
	}
}

// A cursor that the server did not make is rejected, or stands for a place in the list that the caller may read anyway.
func TestHostileCursors(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	write(t, fs, file1, longTalk(20)...)
	write(t, fs, sessions+"/other.jsonl", talk("0190000000000002")...)
	env := newEnv(fs)
	for command, given := range cursorsOf(t, env, args{"source": file1}) {
		cursor, ok := given["cursor"].(string)
		require.True(t, ok)
		fail := func(cursor any, kind fault.Kind) {
			t.Helper()
			_, err := run(t.Context(), env, command, args{"source": file1, "cursor": cursor})
			f := requireKind(t, kind, err)
			if kind == fault.InvalidArgument {
				require.Equal(t, "cursor", f.Data["field"])
			}
		}
		for _, text := range []any{5, -1, true, []any{cursor}, args{"a": cursor}} {
			fail(text, fault.InvalidArgument)
		}
		for _, text := range []string{
			" ", "nonsense", "null", cursor[:len(cursor)-1], cursor + "A", strings.Repeat("A", 1<<20), "../../etc/passwd", "\x00",
			base64.RawURLEncoding.EncodeToString(make([]byte, 8)), forged(t, cursor, func([]byte) []byte { return []byte("e") }),
		} {
			fail(text, fault.InvalidArgument)
		}
		for k := range 4 {
			for _, value := range []uint64{1 << 31, 1 << 62, 1<<64 - 1} { // the last one is -1
				fail(forged(t, cursor, number(k, value)), fault.InvalidArgument)
			}
		}
		fail(forged(t, cursor, number(0, 21)), fault.Stale)
		fail(forged(t, cursor, number(0, 3)), fault.InvalidArgument)
		fail(forged(t, cursor, number(1, 5)), fault.Stale)
		fail(forged(t, cursor, number(2, 500)), fault.InvalidArgument)
		fail(forged(t, cursor, number(3, 500)), fault.InvalidArgument)
		_, err := run(t.Context(), env, command, args{"source": "0190000000000002", "cursor": cursor})
		requireKind(t, fault.Stale, err)
		_, err = run(t.Context(), env, command, args{"cursor": cursor})
		requireKind(t, fault.Stale, err)
	}
}

// Whatever bytes a cursor has, the answer is a page or an error of a kind that a client knows.
func TestCursorsOfRandomBytes(t *testing.T) {
	t.Parallel()
	racetest.Large(t)
	random := rand.New(rand.NewSource(1))
	for _, path := range dialectFiles {
		fs := afero.NewMemMapFs()
		talk := &randomTalk{Rand: random, ids: []string{"aaaaaaaa"}}
		conversation := longTalk(30)
		write(t, fs, path, append(append(conversation[:1:1], talk.lines(60)...), conversation[1:]...)...)
		env := newEnv(fs)
		answers := 0
		for command, given := range cursorsOf(t, env, args{"source": path}) {
			cursor, ok := given["cursor"].(string)
			require.True(t, ok)
			for range 300 {
				_, err := run(t.Context(), env, command, args{"source": path, "cursor": forged(t, cursor, func(b []byte) []byte {
					b = bytes.Clone(b)
					for range 1 + random.Intn(2) {
						b[random.Intn(5)] = byte(random.Intn(128))
					}
					return b
				})})
				if err == nil {
					answers++
					continue
				}
				var f *fault.Error
				require.ErrorAs(t, err, &f)
				require.Contains(t, []fault.Kind{fault.InvalidArgument, fault.Stale}, f.Kind, err)
			}
		}
		require.Positive(t, answers, "some of them only name another place")
	}
}

// Limits are checked before anything else happens, each with a sentence that names the range.
func TestLimitsOfPages(t *testing.T) {
	t.Parallel()
	env := newEnv(afero.NewMemMapFs())
	for _, tc := range []struct {
		command, limit string
		most           int
	}{
		{"xcsh.snapshot", "last", 500},
		{"xcsh.messages", "limit", 500},
		{"xcsh.messages", "maxBytes", 4194304},
		{"xcsh.entries", "limit", 5000},
		{"xcsh.entries", "maxBytes", 4194304},
		{"xcsh.tree", "limit", 5000},
		{"xcsh.tree", "maxBytes", 4194304},
		{"xcsh.context", "maxBytes", 4194304},
	} {
		for _, value := range []int{0, -1, tc.most + 1, 1 << 40} {
			_, err := run(t.Context(), env, tc.command, args{tc.limit: value})
			f := requireKind(t, fault.InvalidArgument, err)
			require.Equal(t, tc.limit, f.Data["field"])
			require.Contains(t, f.Message, "must be from 1 to")
		}
		for _, value := range []any{1, tc.most, nil} {
			_, err := run(t.Context(), env, tc.command, args{tc.limit: value})
			require.NoError(t, err, "%s %s %v", tc.command, tc.limit, value)
		}
	}
	for _, wrong := range []args{
		{"cursor": "a", "before": "b"},
		{"before": "a", "around": "b"},
		{"query": "x", "after": "a"},
		{"query": "x", "around": "a"},
		{"query": " \t"},
		{"query": strings.Repeat("x", 1001)},
	} {
		_, err := run(t.Context(), env, "xcsh.messages", wrong)
		requireKind(t, fault.InvalidArgument, err)
	}
	_, err := run(t.Context(), env, "xcsh.entries", args{"since": "a", "cursor": "b"})
	requireKind(t, fault.InvalidArgument, err)
	_, err = run(t.Context(), env, "xcsh.context", args{"leafId": nil, "cursor": "b"})
	requireKind(t, fault.InvalidArgument, err)
}

// An item that is larger than a page comes alone.
func TestALargeItemComesAlone(t *testing.T) {
	t.Parallel()
	racetest.Large(t)
	fs := afero.NewMemMapFs()
	write(t, fs, file1, st.Header(id1, "/w"), st.User("00000001", "", "a"), st.User("00000002", "00000001", strings.Repeat("b", 5<<20)), st.User("00000003", "00000002", "c"))
	env := newEnv(fs)
	sizes := func(first args, command string, size func(page json.RawMessage) (int, string)) (list []int) {
		inPages(t, env, command, first, rand.New(rand.NewSource(1)), func() {}, func(page json.RawMessage) string {
			n, next := size(page)
			list = append(list, n)
			return next
		})
		return list
	}
	require.Equal(t, []int{1, 1, 1}, sizes(args{"source": id1, "maxBytes": 1000}, "xcsh.entries", func(page json.RawMessage) (int, string) {
		r := decode[commands.EntriesResult](t, page)
		return len(r.Entries), r.Next
	}))
	require.Equal(t, []int{1, 1, 1}, sizes(args{"source": id1, "maxBytes": 1000}, "xcsh.context", func(page json.RawMessage) (int, string) {
		r := decode[commands.ContextResult](t, page)
		return len(r.Context.Messages), r.Next
	}))
	require.Equal(t, []int{1, 1, 1}, sizes(args{"source": id1}, "xcsh.messages", func(page json.RawMessage) (int, string) {
		r := decode[commands.MessagesResult](t, page)
		if r.Older == nil {
			return len(r.Messages), ""
		}
		return len(r.Messages), r.Older.Cursor
	}))
}

// A complete answer of more than 64 MiB is refused, with the argument that makes it smaller.
func TestACompleteAnswerThatIsTooLarge(t *testing.T) {
	t.Parallel()
	racetest.Large(t)
	fs := afero.NewMemMapFs()
	lines, parent := []string{st.Header(id1, "/w")}, ""
	for _, id := range []string{"00000001", "00000002", "00000003"} {
		lines = append(lines, st.User(id, parent, strings.Repeat("x", 22<<20)))
		parent = id
	}
	tooLarge := func(env *commands.Env, command, field string, given args) {
		t.Helper()
		_, err := run(t.Context(), env, command, given)
		f := requireKind(t, fault.TooLarge, err)
		require.Equal(t, field, f.Data["field"])
		require.Contains(t, f.Message, "64 MiB")
	}
	for _, path := range dialectFiles[1:] {
		write(t, fs, path, lines...)
		tooLarge(newEnv(fs), "xcsh.context", "maxBytes", args{"source": path})
		require.NoError(t, fs.Remove(path))
	}
	write(t, fs, file1, lines...)
	env := newEnv(fs)
	_, err := run(t.Context(), env, "xcsh.resume", args{"target": file1})
	require.NoError(t, err)
	tooLarge(env, "xcsh.entries", "limit", args{})
	tooLarge(env, "xcsh.context", "maxBytes", args{})
	tooLarge(env, "xcsh.snapshot", "last", args{})
	require.Len(t, call[agent.Snapshot](t, env, "xcsh.snapshot", args{"last": 3}).Messages, 1)
	require.Len(t, call[commands.TreeResult](t, env, "xcsh.tree", args{}).Nodes, 3, "its nodes are small")

	lines, parent = lines[:1], ""
	for i := range 600 {
		id := fmt.Sprintf("%04d", i) + strings.Repeat("g", 60<<10)
		lines = append(lines, st.User(id, parent, "x"))
		parent = id
	}
	write(t, fs, file1, lines...)
	tooLarge(newEnv(fs), "xcsh.tree", "limit", args{"source": file1})
	page := call[commands.TreeResult](t, newEnv(fs), "xcsh.tree", args{"source": file1, "limit": 5})
	require.Len(t, page.Nodes, 5)
	require.Less(t, len(page.Next), 100, "a cursor has no id")
}
