package pg

import "github.com/xcsh-ls/xcsh-ls/session"

// dialect returns the dialect with a number of the schema; an unknown one counts as xcsh.
func dialect(n int) session.Dialect {
	for _, d := range []session.Dialect{session.Xcsh, session.Pi, session.Omp} {
		if int(d) == n {
			return d
		}
	}
	return session.Xcsh
}
