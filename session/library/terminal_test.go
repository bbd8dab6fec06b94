package library_test

import (
	"maps"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/session/library"
)

// Proves: X-164
func TestTerminalID(t *testing.T) {
	t.Parallel()
	all := map[string]string{"KITTY_WINDOW_ID": "7", "TMUX_PANE": "%3", "TERM_SESSION_ID": "w0t0", "WT_SESSION": "guid"}
	without := func(names ...string) map[string]string {
		vars := maps.Clone(all)
		for _, n := range names {
			vars[n] = ""
		}
		return vars
	}
	for _, c := range []struct {
		name, tty string
		vars      map[string]string
		want      string
	}{
		{"the device comes first", "/dev/pts/3", all, "pts-3"},
		{"a path that is no device does not count", "/tmp/x", all, "kitty-7"},
		{"kitty", "", all, "kitty-7"},
		{"tmux", "", without("KITTY_WINDOW_ID"), "tmux-%3"},
		{"Apple's terminal", "", without("KITTY_WINDOW_ID", "TMUX_PANE"), "apple-w0t0"},
		{"Windows' terminal", "", without("KITTY_WINDOW_ID", "TMUX_PANE", "TERM_SESSION_ID"), "wt-guid"},
		{"none", "", nil, ""},
		{"a variable cannot lead elsewhere", "", map[string]string{"TMUX_PANE": "/../../x"}, "tmux--------x"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, library.TerminalID(environment("linux", c.vars), c.tty))
		})
	}
	require.Empty(t, library.TerminalID(library.Env{}, "/dev/"))
}
