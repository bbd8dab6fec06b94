//go:build unix

package share_test

import (
	"context"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/share"
)

func number(t *testing.T, s string) int {
	t.Helper()
	n, err := strconv.Atoi(s)
	require.NoError(t, err)
	return n
}

// Without a handler gh reports whether it is logged in, and makes a gist that is not public.
// Proves: O-029
func TestGist(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.gh(`cat >"$0.stdin"; cp "$4" "$0.page"; ls -ld "$(dirname "$4")" "$4" >"$0.modes"
echo "- Creating gist page.html" >&2
` + answerGist)
	require.Equal(t, share.Result{
		Via: share.Gist, URL: "https://gist.github.com/someone/0123abcd", PreviewURL: "https://gistpreview.github.io/?0123abcd",
	}, w.ok())
	require.Regexp(t, `^auth status\ngist create --public=false /.*/page\.html\n$`, w.read(w.bin+"/gh.calls"))
	require.Equal(t, "<!DOCTYPE html>the page", w.read(w.bin+"/gh.page"))
	require.Regexp(t, `(?m)^drwx------[^-]`, w.read(w.bin+"/gh.modes"), "other users cannot read the directory")
	require.Empty(t, w.read(w.bin+"/gh.stdin"), "nothing can be typed")
}

// Proves: O-029
func TestGistAddresses(t *testing.T) {
	t.Parallel()
	for printed, want := range map[string]share.Result{
		"https://gist.github.com/0123abcd\n":                {URL: "https://gist.github.com/0123abcd", PreviewURL: "https://gistpreview.github.io/?0123abcd"},
		"Created\n  https://gist.github.com/a-b/0123abcd  ": {URL: "https://gist.github.com/a-b/0123abcd", PreviewURL: "https://gistpreview.github.io/?0123abcd"},
		// GitHub Enterprise, which no preview page can read.
		"https://gist.example.com/me/0123abcd":  {URL: "https://gist.example.com/me/0123abcd"},
		"https://git.example.com/gist/0123abcd": {URL: "https://git.example.com/gist/0123abcd"},
		// No gists.
		"":                                     {},
		"Done.":                                {},
		"http://gist.github.com/0123abcd":      {},
		"https://github.com/me/0123abcd":       {},
		"https://gist.github.com/":             {},
		"https://gist.github.com/me/a/b":       {},
		"https://gist.github.com/me/%22%3E":    {},
		"https://gist.github.com/me/ab?x=1":    {},
		"https://gist.github.com/me/ab#frag":   {},
		"https://me@gist.github.com/0123abcd":  {},
		"https:///gist/0123abcd":               {},
		"javascript:https://gist.github.com/1": {},
		"https://gist.github.com/\x00\x01":     {},
	} {
		t.Run(printed, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.write(w.bin+"/printed", printed)
			w.gh("cat " + w.bin + "/printed")
			if want == (share.Result{}) {
				require.Equal(t, "gh did not report the address of the gist. Look for it on https://gist.github.com.", w.fails(fault.IO))
				return
			}
			want.Via = share.Gist
			require.Equal(t, want, w.ok())
		})
	}
}

// Proves: O-029
func TestGistFailures(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		gh, want string
		kind     fault.Kind
	}{
		"without gh": {
			want: "Couldn't share the session: the GitHub CLI (gh) is not on PATH. Install it from https://cli.github.com, or add a share script to AGENT.",
			kind: fault.NotFound,
		},
		"gh is not logged in": {
			gh:   `if [ "$1" = auth ]; then echo "You are not logged into any GitHub hosts." >&2; exit 1; fi; ` + answerGist,
			want: `gh is not logged in to GitHub; run "gh auth login" in a terminal and share again.`,
			kind: fault.Denied,
		},
		"gh fails": {
			gh:   `if [ "$1" = auth ]; then exit 0; fi; echo "- Creating gist page.html" >&2; printf '\033[31mX\033[0m Failed to create gist: HTTP 401: Bad credentials.\nTry this.\n' >&2; exit 1`,
			want: "gh could not create the gist: Failed to create gist: HTTP 401: Bad credentials.",
			kind: fault.IO,
		},
		"gh fails without output": {
			gh:   `if [ "$1" = auth ]; then exit 0; fi; exit 4`,
			want: "gh could not create the gist: exit status 4.",
			kind: fault.IO,
		},
		"gh made one and fails": {
			gh:   `if [ "$1" = auth ]; then exit 0; fi; ` + answerGist + `exit 1`,
			want: "gh could not create the gist: https://gist.github.com/someone/0123abcd.",
			kind: fault.IO,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			if tc.gh != "" {
				w.program(w.bin, "gh", tc.gh)
			}
			require.Equal(t, tc.want, w.fails(tc.kind))
		})
	}
}

// A program that prints without end is not held up and fills no memory.
func TestGistOfATalkativeProgram(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.gh(answerGist + "head -c 3000000 /dev/zero; head -c 3000000 /dev/zero >&2")
	require.Equal(t, "https://gist.github.com/someone/0123abcd", w.ok().URL)
}

// Something that is left in the background is not waited for.
func TestGistWithSomethingInTheBackground(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.gh(`sleep 1000 & echo $! >"$0.pid"; ` + answerGist)
	t.Cleanup(func() {
		if pid, err := os.ReadFile(w.bin + "/gh.pid"); assert.NoError(t, err) {
			_ = syscall.Kill(number(t, string(pid[:len(pid)-1])), syscall.SIGKILL)
		}
	})
	require.Equal(t, "https://gist.github.com/someone/0123abcd", w.ok().URL)
}

// Cancelling terminates gh and the processes that gh has started, even if they ignore
// signals.
// Proves: O-030
func TestCancelEndsTheProcesses(t *testing.T) {
	t.Parallel()
	for name, before := range map[string]string{
		"that end on a signal":   "",
		"that have to be killed": "trap '' TERM",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.Grace = 100 * time.Millisecond
			script, h := w.hang(before)
			w.gh(script)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			go func() {
				h.begun()
				cancel()
			}()
			_, err := w.share(ctx)
			require.Equal(t, fault.Cancelled, fault.KindOf(err))
			require.EqualError(t, err, "Share cancelled")
			require.Len(t, strings.Fields(h.printed), 2)
			h.requireGone()
		})
	}
}

func TestNothingBeginsAfterACancel(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.gh(answerGist)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := w.share(ctx)
	require.EqualError(t, err, "Share cancelled")
	require.NoFileExists(t, w.bin+"/gh.calls")
}

// Proves: O-030
func TestAProgramThatDoesNotAnswerIsGivenUp(t *testing.T) {
	t.Parallel()
	for _, hangsIn := range []string{"auth", "gist"} {
		t.Run(hangsIn, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.Limit, w.Grace = 500*time.Millisecond, 100*time.Millisecond
			script, h := w.hang("if [ $1 != " + hangsIn + " ]; then exit 0; fi")
			w.program(w.bin, "gh", script)
			require.Equal(t, "Sharing was stopped because gh did not finish within 500ms.", w.fails(fault.IO))
			h.requireGone()
		})
	}
}
