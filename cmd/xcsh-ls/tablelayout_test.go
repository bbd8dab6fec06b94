package main

import (
	"os"
	"strings"
	"testing"

	"github.com/clipperhouse/displaywidth"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// shown returns a table as a screen shows it, with styles if styled is set.
func shown(t *testing.T, tb table, styled bool) string {
	t.Helper()
	var plain, terminal strings.Builder
	if styled {
		tb.screen.styled = &terminal
	}
	require.NoError(t, tb.print(&plain))
	if styled {
		require.Empty(t, plain.String(), "escapes would be written as text")
		return terminal.String()
	}
	return plain.String()
}

func files(to screen) table {
	tb := table{screen: to, head: []string{"STATUS", "LINES", "FILE", "NOTE"}, shrink: []int{2}, dim: []int{1, 3}}
	tb.add("modified", "+1 -1", "文件.txt", "")
	tb.add("added", "+10", "🚀.go", "")
	return tb
}

// Headers and styles are for terminals; columns without content are left out there.
func TestATerminalShowsHeadersAndStyles(t *testing.T) {
	t.Parallel()
	const rows = "modified\t+1 -1\t文件.txt\nadded\t+10\t🚀.go\n"
	require.Equal(t, rows, shown(t, files(screen{}), false))
	terminal := screen{terminal: true, width: 80}
	plain := "STATUS    LINES  FILE\nmodified  +1 -1  文件.txt\nadded     +10    🚀.go\n"
	require.Equal(t, plain, shown(t, files(terminal), false))
	styled := shown(t, files(terminal), true)
	require.Equal(t, "\x1b[1mSTATUS\x1b[0m    \x1b[1mLINES\x1b[0m  \x1b[1mFILE\x1b[0m\n"+
		"modified  \x1b[2m+1 -1\x1b[0m  文件.txt\nadded     \x1b[2m+10\x1b[0m    🚀.go\n", styled)
	require.Equal(t, plain, strings.NewReplacer(bold, "", faint, "", unstyled, "").Replace(styled))
}

// A table without rows has no header.
func TestAnEmptyTableIsEmpty(t *testing.T) {
	t.Parallel()
	require.Empty(t, shown(t, table{screen: screen{terminal: true}, head: []string{"ID"}}, false))
}

// Styles take no room: a row is cut at the same place with and without them, and every style ends.
func TestStyledRowsFitTheTerminal(t *testing.T) {
	t.Parallel()
	for width := 1; width < 60; width++ {
		tb := files(screen{terminal: true, width: width})
		tb.add("deleted", "-3", strings.Repeat("长", 20), "a note 👩‍👩‍👧 about it")
		plain, styled := shown(t, tb, false), shown(t, tb, true)
		assert.Equal(t, plain, strings.NewReplacer(bold, "", faint, "", unstyled, "").Replace(styled))
		assert.Equal(t, strings.Count(styled, bold)+strings.Count(styled, faint), strings.Count(styled, unstyled))
		for line := range strings.Lines(plain) {
			assert.LessOrEqual(t, displaywidth.String(strings.TrimSuffix(line, "\n")), width)
		}
	}
}

func sessions(width int) table {
	tb := table{
		screen: screen{terminal: true, width: width}, head: []string{"ID", "NAME", "UPDATED", "DIRECTORY"},
		shrink: []int{1, 3}, drop: []int{2, 3}, paths: []int{3}, ids: true,
	}
	tb.add("01a1f87d-6a96-72a8-b80c-6eb380c47d97", "修复登录页面的测试并且更新文档", "1h ago", "/home/u/projects/web")
	tb.add("01a1f87d-6a97-77ae-890b-3e5bf404b6a2", "Date formats", "just now", "/home/u/projects/server")
	return tb
}

// A table gets narrower step by step: the texts to a readable width, the IDs to prefixes that differ, the texts to their least width,
// and then columns are left out, which makes room for texts again.
func TestANarrowTable(t *testing.T) {
	t.Parallel()
	for width, want := range map[int]string{
		0: `
ID                                    NAME                            UPDATED   DIRECTORY
01a1f87d-6a96-72a8-b80c-6eb380c47d97  修复登录页面的测试并且更新文档  1h ago    /home/u/projects/web
01a1f87d-6a97-77ae-890b-3e5bf404b6a2  Date formats                    just now  /home/u/projects/server
`,
		88: `
ID                                    NAME              UPDATED   DIRECTORY
01a1f87d-6a96-72a8-b80c-6eb380c47d97  修复登录页面的…   1h ago    /home/u/projects/web
01a1f87d-6a97-77ae-890b-3e5bf404b6a2  Date formats      just now  …ome/u/projects/server
`,
		64: `
ID                  NAME              UPDATED   DIRECTORY
01a1f87d-6a96-72a8  修复登录页面的…   1h ago    …/u/projects/web
01a1f87d-6a97-77ae  Date formats      just now  …projects/server
`,
		46: `
ID             NAME      UPDATED   DIRECTORY
01a1f87d-6a96  修复登…   1h ago    …ojects/web
01a1f87d-6a97  Date fo…  just now  …cts/server
`,
		40: `
ID             NAME            DIRECTORY
01a1f87d-6a96  修复登录页面…   …ects/web
01a1f87d-6a97  Date formats    …s/server
`,
		30: `
ID             NAME
01a1f87d-6a96  修复登录页面的…
01a1f87d-6a97  Date formats
`,
		20: `
ID             NAME
01a1f87d-6a96  修复…
01a1f87d-6a97  Date…
`,
	} {
		got := shown(t, sessions(width), false)
		assert.Equal(t, strings.TrimPrefix(want, "\n"), got, "%d", width)
	}
}

// A name that must be complete has a line of its own if it takes more than half of the screen, so that one of them doesn't leave the
// others without room.
func TestALongNameHasALineOfItsOwn(t *testing.T) {
	t.Parallel()
	tb := table{screen: screen{terminal: true, width: 24}, head: []string{"MODEL", "TITLE", "STATUS"}, shrink: []int{1}, drop: []int{1}, long: true}
	tb.add("offline/demo", "Demo", "ready")
	tb.add("some-service/a-model-with-a-name-that-wraps", "A model", "no key")
	require.Equal(t, "MODEL         STATUS\noffline/demo  ready\nsome-service/a-model-with-a-name-that-wraps\n              no key\n", shown(t, tb, false))
}

// The end of a path stays, and wide characters at the cut take no more room than there is.
func TestAPathIsTruncatedAtItsBeginning(t *testing.T) {
	t.Parallel()
	for width := 1; width < 20; width++ {
		got := truncatePath("/家/目录/项目", width)
		require.LessOrEqual(t, displaywidth.String(got), width)
		require.True(t, strings.HasSuffix("/家/目录/项目", strings.TrimPrefix(got, ellipsis)))
	}
	require.Equal(t, "…/项目", truncatePath("/家/目录/项目", 6))
	require.Equal(t, "/a/b", truncatePath("/a/b", 4))
}

func TestColorsFollowTheConventions(t *testing.T) {
	t.Parallel()
	for env, want := range map[string]bool{
		"TERM=xterm-256color":                  true,
		"TERM=dumb":                            false,
		"TERM=xterm NO_COLOR=1":                false,
		"TERM=xterm NO_COLOR=0":                false, // any value counts
		"TERM=xterm NO_COLOR=":                 true,
		"TERM=xterm CLICOLOR=0":                false,
		"TERM=xterm CLICOLOR=1":                true,
		"TERM=dumb CLICOLOR_FORCE=1":           false,
		"TERM=xterm NO_COLOR=1 CLICOLOR_FORCE": false,
	} {
		values := map[string]string{}
		for pair := range strings.FieldsSeq(env) {
			name, value, _ := strings.Cut(pair, "=")
			values[name] = value
		}
		require.Equal(t, want, wantsStyles(func(name string) string { return values[name] }), env)
	}
}

// A file is no screen, whatever the environment asks for.
func TestAFileHasNoStyles(t *testing.T) { //nolint:paralleltest // it changes the environment
	t.Setenv("TERM", "xterm")
	t.Setenv("CLICOLOR_FORCE", "1")
	f, err := os.Create(t.TempDir() + "/out")
	require.NoError(t, err)
	defer func() { require.NoError(t, f.Close()) }()
	require.Equal(t, screen{}, screenOf(f))
	require.Nil(t, lineOn(f).terminal)
}
