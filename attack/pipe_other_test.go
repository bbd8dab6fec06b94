//go:build !unix

package attack

import "testing"

func pipe(t *testing.T, _ string) {
	t.Helper()
	t.Skip("no named pipes in directories here")
}

func (v *victim) limited(args ...string) outcome { return v.run(args...) }
