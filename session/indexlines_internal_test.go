package session

import (
	"math/rand/v2"

	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
)

// lineMaker makes random entries of a dialect.
type lineMaker struct {
	r     *rand.Rand
	d     Dialect
	twice bool // some ids are used twice
	n     int  // the number of lines
	made  *st.Random
}

func (m *lineMaker) random() *st.Random {
	if m.made == nil {
		m.made = &st.Random{Rand: m.r, Dialect: int(m.d), Twice: m.twice}
	}
	return m.made
}

func (m *lineMaker) line() string {
	m.n++
	return m.random().Line()
}

// head returns the lines before the entries.
func (m *lineMaker) head() string { return m.random().Head() }
