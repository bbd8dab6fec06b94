package tool

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func TestHead(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", MaxBytes/2) // exactly the limit
	for _, c := range []struct {
		name, in, out, by string
		total, kept       int
		first             bool
	}{
		{"nothing", "", "", "", 0, 0, false},
		{"within the limits", "a\nb\n", "a\nb\n", "", 2, 2, false},
		{"as many lines as fit", strings.Repeat("x\n", MaxLines), strings.Repeat("x\n", MaxLines), "", MaxLines, MaxLines, false},
		{"one line too many", strings.Repeat("x\n", MaxLines+1), strings.TrimSuffix(strings.Repeat("x\n", MaxLines), "\n"), byLines, MaxLines + 1, MaxLines, false},
		{"a line that just fits", long, long, "", 1, 1, false},
		{"a line that just fits and one more", long + "\nb", long, byBytes, 2, 1, false},
		{"a first line that is too long", long + "x\nb", "", byBytes, 2, 0, true},
		{"a later line that is too long", "a\n" + long, "a", byBytes, 2, 1, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			out, got := head(c.in)
			require.Equal(t, c.out, out)
			requireCut(t, got, c.by)
			require.Equal(t, c.total, got.TotalLines)
			require.Equal(t, c.kept, got.OutputLines)
			require.Equal(t, c.first, got.FirstLineExceedsLimit)
		})
	}
}

func TestTail(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", MaxBytes/2)
	for _, c := range []struct {
		name, in, out, by string
		total, kept       int
		partial           bool
	}{
		{"nothing", "", "", "", 0, 0, false},
		{"within the limits", "a\nb\n", "a\nb\n", "", 2, 2, false},
		{"one line too many", "y\n" + strings.Repeat("x\n", MaxLines), strings.TrimSuffix(strings.Repeat("x\n", MaxLines), "\n"), byLines, MaxLines + 1, MaxLines, false},
		{"empty lines count", strings.Repeat("\n", MaxLines+5), strings.Repeat("\n", MaxLines-1), byLines, MaxLines + 5, MaxLines - 1, false},
		{"a last line that just fits", "a\n" + long, long, byBytes, 2, 1, false},
		{"a last line that is too long", "a\nx" + long + "\n", long, byBytes, 2, 1, true},
		{"not half a character", "a\n" + long + "x\n", long[2:] + "x", byBytes, 2, 1, true},
		{"an earlier line that is too long", long + "\nb\n", "b", byBytes, 2, 1, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			out, got := tail(c.in)
			require.Equal(t, c.out, out)
			requireCut(t, got, c.by)
			require.Equal(t, c.total, got.TotalLines)
			require.Equal(t, c.kept, got.OutputLines)
			require.Equal(t, c.partial, got.LastLinePartial)
		})
	}
}

func requireCut(t *testing.T, got Truncation, by string) {
	t.Helper()
	require.Equal(t, by != "", got.Truncated)
	if by == "" {
		require.Nil(t, got.TruncatedBy)
		return
	}
	require.Equal(t, by, *got.TruncatedBy)
}

func TestCutLine(t *testing.T) {
	t.Parallel()
	fits := strings.Repeat("é", MaxLineChars)
	out, cut := cutLine(fits)
	require.False(t, cut)
	require.Equal(t, fits, out)
	out, cut = cutLine(fits + "x")
	require.True(t, cut)
	require.Equal(t, fits+"... [truncated]", out)
}

func FuzzTruncate(f *testing.F) {
	f.Add("a\nb", 3, false)
	f.Add("é", MaxBytes, false)
	f.Add("x\n\n", MaxLines, true)
	f.Add("日本\n", 20000, true)
	f.Fuzz(func(t *testing.T, piece string, times int, newline bool) {
		if !utf8.ValidString(piece) || piece == "" || times < 0 {
			return
		}
		s := strings.Repeat(piece, min(times, 200_000/len(piece)))
		if newline {
			s += "\n"
		}
		first, _ := head(s)
		last, _ := tail(s)
		line, _ := cutLine(s)
		for _, out := range []string{first, last, line} {
			require.True(t, utf8.ValidString(out))
		}
		for _, out := range []string{first, last} {
			require.LessOrEqual(t, len(out), MaxBytes)
			require.LessOrEqual(t, countLines(out), MaxLines)
		}
		require.True(t, strings.HasPrefix(s, first))
		require.True(t, strings.HasSuffix(s, last) || strings.HasSuffix(strings.TrimSuffix(s, "\n"), last))
	})
}
