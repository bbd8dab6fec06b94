package picker

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
	"github.com/clipperhouse/displaywidth"
)

// model is the state of the list. As bubbletea requires, a change returns a new one.
type model struct {
	list  List
	rows  []shown
	more  bool // rows still arrive
	enter bool // enter was pressed before a row to choose had arrived
	query string
	found []int // the rows that match the query, in order
	at    int   // the selected row, an index into found
	top   int   // the first visible row, an index into found

	width, height int // in cells; 0 until the terminal reports them

	chosen int // an index into rows
	err    error
}

func newModel(l List) model { return model{list: l, more: true, chosen: -1, err: ErrClosed} }

// result returns the chosen row, or how the user left without one.
func (m model) result() (int, error) {
	if m.chosen < 0 {
		return 0, m.err
	}
	return m.chosen, nil
}

// arrived are rows from the channel. ended reports that there are no others.
type arrived struct {
	rows  []shown
	ended bool
}

// batch bounds the rows of one message, so that keys are handled between them.
const batch = 500

// receive waits for a row and takes those that have arrived with it.
func (m model) receive() tea.Msg {
	var a arrived
	r, ok := <-m.list.Rows
	for ok {
		a.rows = append(a.rows, show(r))
		if len(a.rows) == batch {
			return a
		}
		select {
		case r, ok = <-m.list.Rows:
		default:
			return a
		}
	}
	a.ended = true
	return a
}

func (m model) Init() tea.Cmd { return m.receive }

func (m model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
	case arrived:
		m.add(msg.rows)
		m.more = !msg.ended
		if m.enter && m.choose() {
			return m, tea.Quit
		}
		if m.more {
			return m.scrolled(), m.receive
		}
	case tea.PasteMsg:
		m.search(m.query + msg.Content)
	case tea.KeyPressMsg:
		if m.key(msg) {
			return m, tea.Quit
		}
	}
	return m.scrolled(), nil
}

// add appends rows.
func (m *model) add(rows []shown) {
	words := strings.Fields(strings.ToLower(m.query))
	for _, r := range rows[:min(len(rows), maxRows-len(m.rows))] {
		if r.matches(words) {
			m.found = append(m.found, len(m.rows))
		}
		m.rows = append(m.rows, r)
	}
}

// key handles a key and reports whether it ends the choice.
func (m *model) key(msg tea.KeyPressMsg) (end bool) {
	m.enter = false
	page := max(m.layout().rows-1, 1)
	switch msg.String() {
	case "esc":
		return true
	case "ctrl+c":
		m.err = ErrInterrupted
		return true
	case "enter":
		return m.choose()
	case "up", "ctrl+p":
		m.at--
	case "down", "ctrl+n":
		m.at++
	case "pgup":
		m.at -= page
	case "pgdown":
		m.at += page
	case "home":
		m.at = 0
	case "end":
		m.at = len(m.found) - 1
	case "backspace", "ctrl+h":
		m.search(withoutLast(m.query))
	case "ctrl+w", "alt+backspace":
		m.search(withoutWord(m.query))
	case "ctrl+u":
		m.search("")
	default:
		m.search(m.query + msg.Text)
	}
	return false
}

// choose takes the selected row and reports whether there is one. While rows still arrive, the first that does is taken.
func (m *model) choose() bool {
	if m.at < len(m.found) {
		m.chosen = m.found[m.at]
		return true
	}
	m.enter = m.more
	return false
}

// search filters the rows. The best one, which is the first, is selected.
func (m *model) search(query string) {
	query = typed(query)
	if query == m.query {
		return
	}
	words := strings.Fields(strings.ToLower(query))
	narrower := m.query != "" && strings.HasPrefix(query, m.query)
	from := m.found
	m.query, m.at, m.found = query, 0, nil
	if narrower {
		for _, i := range from {
			if m.rows[i].matches(words) {
				m.found = append(m.found, i)
			}
		}
		return
	}
	for i, r := range m.rows {
		if r.matches(words) {
			m.found = append(m.found, i)
		}
	}
}

// scrolled returns m with the selection inside the list, and inside the visible part of it.
func (m model) scrolled() model {
	m.at = max(min(m.at, len(m.found)-1), 0)
	n := max(m.layout().rows, 1)
	m.top = max(min(m.top, m.at, len(m.found)-n), m.at-n+1, 0)
	return m
}

// typed returns a query as one line without control characters, and not longer than it may be.
func typed(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r) || r == utf8.RuneError:
			return -1
		}
		return r
	}, s)
	if runes := []rune(s); len(runes) > maxQuery {
		s = string(runes[:maxQuery])
	}
	return strings.TrimLeft(s, " ")
}

// withoutLast removes the last character as the user sees it.
func withoutLast(s string) string {
	parts := slices.Collect(all(s))
	return strings.Join(parts[:max(len(parts)-1, 0)], "")
}

// all yields the characters of s as the user sees them.
func all(s string) func(func(string) bool) {
	return func(yield func(string) bool) {
		for each := displaywidth.StringGraphemes(s); each.Next(); {
			if !yield(each.Value()) {
				return
			}
		}
	}
}

func withoutWord(s string) string {
	s = strings.TrimRight(s, " ")
	return s[:strings.LastIndexByte(s, ' ')+1]
}
