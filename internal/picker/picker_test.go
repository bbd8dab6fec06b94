package picker

import (
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/clipperhouse/displaywidth"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/racetest"
	"github.com/xcsh-ls/xcsh-ls/session/visible"
)

// listOf returns the model of a list of which all rows have arrived.
func listOf(t *testing.T, width, height int, rows ...Row) model {
	t.Helper()
	source := make(chan Row, len(rows))
	for _, r := range rows {
		source <- r
	}
	close(source)
	m := newModel(List{Title: "Choose", Action: "choose", Noun: "rows", Rows: source})
	m = update(t, m, tea.WindowSizeMsg{Width: width, Height: height})
	for m.more {
		m = update(t, m, m.receive())
	}
	return m
}

func update(t *testing.T, m model, msg tea.Msg) model {
	t.Helper()
	next, _ := m.Update(msg)
	changed, ok := next.(model)
	require.True(t, ok)
	return changed
}

func press(t *testing.T, m model, keys ...tea.Key) model {
	t.Helper()
	for _, key := range keys {
		m = update(t, m, tea.KeyPressMsg(key))
	}
	return m
}

func typeText(t *testing.T, m model, text string) model {
	t.Helper()
	for _, r := range text {
		m = press(t, m, tea.Key{Code: r, Text: string(r)})
	}
	return m
}

func numbered(n int) (rows []Row) {
	for i := range n {
		rows = append(rows, Row{Text: fmt.Sprintf("row %d", i), Aside: "1m ago", Search: fmt.Sprintf("topic%d", i%7)})
	}
	return rows
}

// screenOf returns the lines of the screen without styles.
func screenOf(m model) []string {
	text := m.View().Content
	for _, style := range []string{bold, faint, accent, plain} {
		text = strings.ReplaceAll(text, style, "")
	}
	return strings.Split(text, "\n")
}

// selected returns the row at the pointer, "" if none is visible.
func selected(m model) string {
	for _, line := range screenOf(m) {
		if text, is := strings.CutPrefix(line, pointer); is {
			return strings.TrimSpace(strings.TrimSuffix(text, "1m ago"))
		}
	}
	return ""
}

func TestKeysMoveTheSelection(t *testing.T) {
	t.Parallel()
	m := listOf(t, 80, 10, numbered(30)...) // seven rows are visible
	for _, step := range []struct {
		key  tea.Key
		want string
	}{
		{tea.Key{Code: tea.KeyUp}, "row 0"},
		{tea.Key{Code: tea.KeyDown}, "row 1"},
		{tea.Key{Code: 'n', Mod: tea.ModCtrl}, "row 2"},
		{tea.Key{Code: 'p', Mod: tea.ModCtrl}, "row 1"},
		{tea.Key{Code: tea.KeyPgDown}, "row 7"},
		{tea.Key{Code: tea.KeyEnd}, "row 29"},
		{tea.Key{Code: tea.KeyDown}, "row 29"},
		{tea.Key{Code: tea.KeyPgDown}, "row 29"},
		{tea.Key{Code: tea.KeyPgUp}, "row 23"},
		{tea.Key{Code: tea.KeyHome}, "row 0"},
		{tea.Key{Code: tea.KeyPgUp}, "row 0"},
	} {
		m = press(t, m, step.key)
		require.Equal(t, step.want, selected(m), "after %s", step.key)
	}
	m = press(t, m, tea.Key{Code: tea.KeyEnd})
	m = update(t, m, tea.WindowSizeMsg{Width: 80, Height: 5})
	require.Equal(t, "row 29", selected(m), "the selection stays visible on a smaller screen")
	m = press(t, m, tea.Key{Code: tea.KeyEnter})
	i, err := m.result()
	require.NoError(t, err)
	require.Equal(t, 29, i)
}

func TestEveryWordOfAQueryMustMatch(t *testing.T) {
	t.Parallel()
	m := listOf(t, 80, 24, Row{Text: "Größe ändern", Detail: "in der Datei"}, Row{Text: "修复 测试"}, Row{Text: "fix", Aside: "2d ago", Search: "0190 2026-01-02"})
	for query, want := range map[string]string{
		"größe": "Größe ändern", "GRÖẞE": "Größe ändern", "datei grö": "Größe ändern", "  ": "Größe ändern",
		"测试 修": "修复 测试", "2026-01 fix": "fix", "fix 测试": "", "fix2d": "", "GRÖSSE": "",
	} {
		found := typeText(t, m, query)
		got := ""
		if len(found.found) > 0 {
			got = found.rows[found.found[0]].text
		}
		require.Equal(t, want, got, query)
	}
}

// Rows that arrive after a query are filtered, too, and move no selection.
func TestRowsArriveDuringASearch(t *testing.T) {
	t.Parallel()
	m := newModel(List{Noun: "rows", Action: "choose"})
	m = update(t, m, tea.WindowSizeMsg{Width: 80, Height: 24})
	m = update(t, m, arrived{rows: []shown{show(Row{Text: "one"}), show(Row{Text: "two"})}})
	m = typeText(t, m, "o")
	m = press(t, m, tea.Key{Code: tea.KeyDown})
	require.Equal(t, "two", selected(m))
	require.Contains(t, screenOf(m)[23], "2 of 2 rows… ·")
	m = update(t, m, arrived{rows: []shown{show(Row{Text: "three"}), show(Row{Text: "four"})}, ended: true})
	require.Equal(t, "two", selected(m))
	require.Contains(t, screenOf(m)[23], "3 of 4 rows ·")
	m = press(t, m, tea.Key{Code: tea.KeyDown}, tea.Key{Code: tea.KeyEnter})
	i, err := m.result()
	require.NoError(t, err)
	require.Equal(t, 3, i, "the index counts the rows that do not match")
}

// Enter waits for a row if none has arrived that can be chosen, until another key is pressed.
func TestEnterWaitsForARow(t *testing.T) {
	t.Parallel()
	one, two := show(Row{Text: "one"}), show(Row{Text: "two"})
	enter := tea.Key{Code: tea.KeyEnter}
	early := func() model { return update(t, newModel(List{}), tea.WindowSizeMsg{Width: 80, Height: 24}) }

	m := press(t, typeText(t, early(), "tw"), enter)
	m = update(t, m, arrived{rows: []shown{one}})
	_, err := m.result()
	require.ErrorIs(t, err, ErrClosed, "nothing is chosen yet")
	next, cmd := m.Update(arrived{rows: []shown{two}})
	require.NotNil(t, cmd)
	require.IsType(t, tea.QuitMsg{}, cmd())
	m, ok := next.(model)
	require.True(t, ok)
	i, err := m.result()
	require.NoError(t, err)
	require.Equal(t, 1, i)

	for name, m := range map[string]model{
		"another key":    typeText(t, press(t, early(), enter), "o"),
		"no row matches": update(t, press(t, typeText(t, early(), "x"), enter), arrived{rows: []shown{two}, ended: true}),
	} {
		m = update(t, m, arrived{rows: []shown{one}})
		_, err = m.result()
		require.ErrorIs(t, err, ErrClosed, name)
	}
}

func TestTheQueryIsEdited(t *testing.T) {
	t.Parallel()
	m := listOf(t, 80, 24, numbered(3)...)
	m = typeText(t, m, "one family")
	m = update(t, m, tea.PasteMsg{Content: " 👩‍👩‍👧\x1b[31m\x00\r\n\u009bx"})
	require.Equal(t, "one family 👩‍👩‍👧[31m  x", m.query, "pasted control characters are dropped")
	back := tea.Key{Code: tea.KeyBackspace}
	m = press(t, m, back, back, back, back, back, back, back)
	require.Equal(t, "one family 👩‍👩‍👧", m.query)
	m = press(t, m, back)
	require.Equal(t, "one family ", m.query, "a character is what the user sees as one")
	m = press(t, m, tea.Key{Code: 'w', Mod: tea.ModCtrl})
	require.Equal(t, "one ", m.query)
	m = press(t, m, tea.Key{Code: 'u', Mod: tea.ModCtrl}, back)
	require.Empty(t, m.query)
	require.Equal(t, "row 0", selected(m))
}

func TestLeavingWithoutAChoice(t *testing.T) {
	t.Parallel()
	for key, want := range map[tea.Key]error{{Code: tea.KeyEscape}: ErrClosed, {Code: 'c', Mod: tea.ModCtrl}: ErrInterrupted} {
		next, quit := listOf(t, 80, 24, numbered(3)...).Update(tea.KeyPressMsg(key))
		require.NotNil(t, quit)
		m, ok := next.(model)
		require.True(t, ok)
		_, err := m.result()
		require.ErrorIs(t, err, want)
	}
	m := typeText(t, listOf(t, 80, 24, numbered(3)...), "nothing like it")
	next, quit := m.Update(tea.KeyPressMsg(tea.Key{Code: tea.KeyEnter}))
	require.Nil(t, quit, "Enter without a row does nothing")
	m, ok := next.(model)
	require.True(t, ok)
	require.Contains(t, screenOf(m)[2], "Nothing matches.")
}

// No line is wider than the screen, has a control character, or pushes another off the screen.
func TestScreensOfAnySizeAreWhole(t *testing.T) {
	t.Parallel()
	racetest.Large(t)
	hostile := []Row{
		{Text: "\x1b]0;owned\a\x1b[2J", Detail: "\r\n\tback\b", Aside: "\u202eago", Search: "x"},
		{Text: strings.Repeat("长", 500), Detail: "detail", Aside: strings.Repeat("9", 300)},
		{Text: strings.Repeat("e\u0301👩‍👩‍👧", 300)},
		{Text: "\xff\xfe\u009b31m"},
		{},
		{Text: "مرحبا بالعالم", Detail: "क्\u200dष"},
	}
	for width := range 130 {
		for _, height := range []int{0, 1, 2, 3, 4, 5, 6, 7, 40} {
			for _, query := range []string{"", "x", "长长长长长长长长长长长长长长长长长长长长"} {
				m := typeText(t, listOf(t, width, height, hostile...), query)
				view := m.View()
				if width == 0 || height == 0 {
					require.Empty(t, view.Content)
					continue
				}
				lines := screenOf(m)
				require.Len(t, lines, height, "%d×%d", width, height)
				for _, line := range lines {
					require.LessOrEqual(t, displaywidth.String(line), width, "%d×%d: %q", width, height, line)
					require.Equal(t, visible.Line(line), line)
				}
				if view.Cursor != nil {
					require.Less(t, view.Cursor.X, width)
					require.Less(t, view.Cursor.Y, height)
				}
			}
		}
	}
}

// A hostile row costs no more than any other, and there is a bound on their number.
func TestRowsAreBounded(t *testing.T) {
	t.Parallel()
	huge := strings.Repeat("長x", 10<<20)
	r := show(Row{Text: huge, Detail: huge, Aside: huge, Search: huge})
	assert.LessOrEqual(t, len(r.text)+len(r.detail)+len(r.aside), 3*maxText)
	assert.LessOrEqual(t, len(r.search), 4*maxSearch+4)
	assert.Equal(t, visible.Line(r.text), r.text, "no character is cut in half")

	m := newModel(List{})
	many := make([]shown, maxRows-1)
	m.add(many)
	m.add(many)
	require.Len(t, m.rows, maxRows)
	require.Len(t, m.found, maxRows)

	m = update(t, m, tea.PasteMsg{Content: huge})
	require.Len(t, []rune(m.query), maxQuery)
}

func BenchmarkSearch(b *testing.B) {
	m := newModel(List{})
	var rows []shown
	for _, r := range numbered(10_000) {
		r.Detail = strings.Repeat("a first prompt of the usual length ", 10)
		rows = append(rows, show(r))
	}
	m.add(rows)
	m.width, m.height = 100, 40
	for b.Loop() {
		m.search("topic3 usual")
		_ = m.View()
		m.search("")
	}
}
