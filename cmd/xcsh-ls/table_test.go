package main

import (
	"strings"
	"testing"

	"github.com/clipperhouse/displaywidth"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/session/library"
	"github.com/xcsh-ls/xcsh-ls/session/visible"
)

// wideNames are names whose number of bytes, code points and cells differ.
var wideNames = map[string]string{
	"ASCII":               "fix the flaky test",
	"Chinese":             "修复不稳定的测试并更新文档说明",
	"Japanese":            "テストを直す",
	"Korean":              "시험을 고치다",
	"full width":          "ＡＢＣ",
	"combining marks":     "cafe\u0301 n\u0303andu\u0301",
	"emoji":               "ship it 🚀🎉",
	"joined emoji":        "family 👩‍👩‍👧 review",
	"skin tone":           "thumbs 👍🏽 up",
	"emoji presentation":  "warning ⚠️ first",
	"keycap and flag":     "1️⃣ 🇩🇪 release",
	"Arabic":              "مرحبا بالعالم",
	"Devanagari joiner":   "क्\u200dष अक्षर",
	"empty":               "",
	"escaped on a screen": "tab\there",
}

func rowsOf(t *testing.T, to screen, infos ...library.Info) []string {
	t.Helper()
	var out strings.Builder
	require.NoError(t, printSessions(&out, to, infos, true))
	rows := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	if to.terminal {
		require.True(t, strings.HasPrefix(rows[0], "ID  "), "a header: %s", rows[0])
		rows = rows[1:]
	}
	return rows
}

func wideInfos() (infos []library.Info) {
	for _, name := range wideNames {
		infos = append(infos, library.Info{ID: "0190000000000001", Name: name, TimeAgo: "2 hours ago", MessageCount: 2, Cwd: "/home/me/项目"})
	}
	return infos
}

func TestColumnsAlignByDisplayWidth(t *testing.T) {
	t.Parallel()
	for _, width := range []int{0, 66, 70, 80, 120} {
		rows := rowsOf(t, screen{terminal: true, width: width}, wideInfos()...)
		require.Len(t, rows, len(wideNames))
		want := -1
		for _, row := range rows {
			name, _, found := strings.Cut(row, "2 hours ago")
			require.True(t, found, row)
			if want < 0 {
				want = displaywidth.String(name)
			}
			assert.Equal(t, want, displaywidth.String(name), "width %d: %s", width, row)
		}
	}
}

func TestRowsFitTheTerminal(t *testing.T) {
	t.Parallel()
	long := library.Info{
		ID: "0190000000000001", Name: strings.Repeat("长👩‍👩‍👧e\u0301", 100), TimeAgo: "just now", MessageCount: 1000, Cwd: "/" + strings.Repeat("目录", 50),
	}
	for _, width := range []int{20, 60, 66, 67, 68, 80, 200} {
		for _, row := range rowsOf(t, screen{terminal: true, width: width}, append(wideInfos(), long)...) {
			assert.LessOrEqual(t, displaywidth.String(row), width, row)
			assert.Equal(t, visible.Text(row), row, "no character is cut in half")
			assert.True(t, strings.HasPrefix(row+"  ", long.ID+"  "), "an ID without which others differ is not cut: %s", row)
		}
	}
	row := rowsOf(t, screen{terminal: true, width: 80}, long)[0]
	require.Contains(t, row, "…")
	require.Contains(t, row, "1000 messages")
}

// Programs that read a pipe get whole values, one row per session.
func TestRowsOfAPipeAreComplete(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("word ", 100) + "end"
	info := library.Info{ID: "0190000000000001", Name: long, TimeAgo: "just now", MessageCount: 1, Cwd: "/a\tb\nc"}
	require.Equal(t, []string{"0190000000000001\t" + long + "\tjust now\t1 message\t/a\\tb\\nc"}, rowsOf(t, screen{}, info))
}

// Every cell is escaped before its width is measured and before it is written.
func TestCellsCannotControlTheTerminal(t *testing.T) {
	t.Parallel()
	const hostile = "\x1b]0;t\a\x1b[2J\u009b2J\u202e\u200b\r\n\tx\xff"
	infos := []library.Info{
		{ID: hostile, Name: hostile, TimeAgo: hostile, Cwd: hostile}, {ID: "0190", Name: "plain", TimeAgo: "now", Cwd: "/w"},
	}
	for _, to := range []screen{{}, {terminal: true}, {terminal: true, width: 80}} {
		rows := rowsOf(t, to, infos...)
		require.Len(t, rows, 2)
		for _, row := range rows {
			require.Equal(t, visible.Text(row), row)
		}
		require.Contains(t, rows[0], `\u001b]0;t\u0007`)
	}
	rows := rowsOf(t, screen{terminal: true}, infos...)
	require.Equal(t, strings.Index(rows[0], "0 messages"), strings.Index(rows[1], "0 messages"), "escapes are measured as they are shown")
}
