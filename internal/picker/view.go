package picker

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/clipperhouse/displaywidth"

	"github.com/xcsh-ls/xcsh-ls/session/visible"
)

// Styles. Bubbletea leaves out the colors if NO_COLOR is set or the terminal has none.
const (
	bold   = "\x1b[1m"
	faint  = "\x1b[2m"
	accent = "\x1b[36m"
	plain  = "\x1b[0m"
)

const (
	prompt   = "Search: "
	pointer  = "> "
	gap      = 2  // cells between the columns of a row
	minAside = 60 // a narrower screen has no room for the text at the right edge
)

// layout is the division of the screen, in lines.
type layout struct {
	title, search, help bool
	rows                int
}

// layout leaves the rows as much as it can: on a low screen, the other lines give way.
func (m model) layout() layout {
	l := layout{rows: m.height}
	for _, part := range []struct {
		on   *bool
		from int // the height from which on it is shown
	}{{&l.search, 2}, {&l.help, 4}, {&l.title, 6}} {
		if m.height >= part.from {
			*part.on = true
			l.rows--
		}
	}
	return l
}

func (m model) View() tea.View {
	v := tea.View{AltScreen: true}
	if m.width <= 0 || m.height <= 0 {
		return v
	}
	l := m.layout()
	var lines []string
	if l.title {
		lines = append(lines, bold+fit(escape(m.list.Title), m.width)+plain)
	}
	if l.search {
		line := m.queryLine()
		v.Cursor = tea.NewCursor(min(displaywidth.String(line), m.width-1), len(lines))
		lines = append(lines, line)
	}
	lines = append(lines, m.body(l.rows)...)
	if l.help {
		lines = append(lines, faint+fit(m.help(), m.width)+plain)
	}
	v.SetContent(strings.Join(lines, "\n"))
	return v
}

// queryLine returns the end of the query that fits, behind the prompt.
func (m model) queryLine() string {
	query := visible.Line(m.query)
	label := prompt
	if m.width < 2*len(prompt) {
		label = ""
	}
	for displaywidth.String(query) > max(m.width-len(label)-1, 0) {
		first := query
		for c := range all(query) {
			first = c
			break
		}
		query = query[len(first):]
	}
	return label + query
}

// body returns n lines of rows.
func (m model) body(n int) []string {
	lines := make([]string, 0, n)
	window := m.found[m.top:min(m.top+n, len(m.found))]
	aside := 0
	if m.width >= minAside {
		for _, i := range window {
			aside = max(aside, displaywidth.String(m.rows[i].aside))
		}
		aside = min(aside, m.width/2)
	}
	for at, i := range window {
		lines = append(lines, m.line(m.rows[i], m.top+at == m.at, aside))
	}
	if len(lines) == 0 && !m.more && n > 0 {
		lines = append(lines, fit("  Nothing matches.", m.width))
	}
	for len(lines) < n {
		lines = append(lines, "")
	}
	return lines
}

// line returns a row; aside is the width of the text at the right edge.
func (m model) line(r shown, selected bool, aside int) string {
	room := m.width - len(pointer)
	if aside > 0 {
		room -= gap + aside
	}
	if room <= 0 {
		return fit(pointer, m.width)
	}
	text := fit(r.text, room)
	left := room - displaywidth.String(text)
	detail := ""
	if left > 2*gap && r.detail != "" {
		detail = strings.Repeat(" ", gap) + fit(r.detail, left-gap)
		left -= displaywidth.String(detail)
	}
	var line strings.Builder
	if selected {
		line.WriteString(accent + pointer + plain + bold + text + plain)
	} else {
		line.WriteString(strings.Repeat(" ", len(pointer)) + text)
	}
	line.WriteString(faint + detail)
	if aside > 0 {
		end := fit(r.aside, aside)
		line.WriteString(strings.Repeat(" ", left+gap+aside-displaywidth.String(end)) + end)
	}
	return line.String() + plain
}

// help returns the number of rows and the keys.
func (m model) help() string {
	count := fmt.Sprintf("%d %s", len(m.rows), m.list.Noun)
	if m.query != "" {
		count = fmt.Sprintf("%d of %s", len(m.found), count)
	}
	if m.more {
		count += "…"
	}
	return fmt.Sprintf("%s · ↑↓ select · Enter %s · Esc cancel", count, m.list.Action)
}

// fit returns s, cut to a width in cells.
func fit(s string, width int) string {
	if width <= 0 {
		return ""
	}
	return displaywidth.TruncateString(s, width, "…")
}
