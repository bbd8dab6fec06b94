//go:build unix

package commands_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/library"
)

// screen is a user's editor that records the messages and pages that it was asked to show.
type screen struct {
	commands.Headless
	cannotOpen    bool
	opened, shown []string
	reports       []string
	ended         int
	questions     []commands.Question
	answer        int
}

func (s *screen) Ask(_ context.Context, q commands.Question) (int, error) {
	s.questions = append(s.questions, q)
	return s.answer, nil
}

func (s *screen) OpenURL(_ context.Context, address string) bool {
	s.opened = append(s.opened, address)
	return !s.cannotOpen
}

func (s *screen) Notify(_ context.Context, _ commands.Level, text string) {
	s.shown = append(s.shown, text)
}

func (s *screen) Progress(_ context.Context, title string) commands.Progress {
	s.reports = append(s.reports, title)
	return s
}

func (s *screen) Report(message string, _ int) { s.reports = append(s.reports, message) }
func (s *screen) End(string)                   { s.ended++ }

// sharing is a machine on which sessions can be shared: its PATH has only bin and the directories that
// shell scripts need.
type sharing struct {
	*commands.Env
	t                      *testing.T
	screen                 *screen
	bin, agent, temp, file string
}

func newSharing(t *testing.T, inMemory bool) *sharing {
	t.Helper()
	dir, fs := t.TempDir(), afero.NewOsFs()
	s := &sharing{
		t: t, screen: &screen{}, bin: filepath.Join(dir, "bin"), agent: filepath.Join(dir, "agent"), temp: filepath.Join(dir, "tmp"),
		file: filepath.Join(dir, "agent/sessions/--w--/talk_"+id1+".jsonl"),
	}
	for _, d := range []string{s.bin, s.temp, filepath.Join(dir, "w")} {
		require.NoError(t, os.Mkdir(d, 0o700))
	}
	t.Setenv("PATH", s.bin+":/usr/bin:/bin")
	write(t, fs, s.file, st.Header(id1, dir+"/w"), st.User("aaaaaaaa", "", "use password=abc123def456, and password=abc123def456"))
	finder := library.Finder{Fs: fs, Roots: []library.Root{library.OwnRoot(library.AgentPlaces(s.agent))}, Now: time.Now, Temp: s.temp}
	store := session.NewStore(session.StoreConfig{Fs: fs, DirFor: finder.DirFor, RootFor: finder.FileRoot})
	s.Env = &commands.Env{
		Sessions: agent.NewManager(agent.Config{Storage: agent.Storage{Store: store, Finder: finder, InMemory: inMemory}}), Store: store, Finder: finder, Fs: fs,
		UI: s.screen, Folders: func() []string { return []string{dir + "/w"} }, Log: zap.NewNop(),
	}
	return s
}

// program creates a program in dir that runs a shell script.
func (s *sharing) program(dir, name, script string) {
	s.t.Helper()
	fake, err := filepath.Abs("../share/testdata/fake")
	require.NoError(s.t, err)
	require.NoError(s.t, os.Symlink(fake, filepath.Join(dir, name)))
	require.NoError(s.t, os.WriteFile(filepath.Join(dir, name+".sh"), []byte(script), 0o600))
}

// gh puts a gh on the PATH that stores the page that it gets.
func (s *sharing) gh() {
	s.t.Helper()
	s.program(s.bin, "gh", `if [ "$1" = auth ]; then exit 0; fi
cp "$4" "$0.page"
basename "$4" >"$0.name"
echo https://gist.github.com/someone/0123abcd`)
}

func (s *sharing) share(a args) (map[string]any, error) {
	s.t.Helper()
	raw, err := run(s.t.Context(), s.Env, "xcsh.share", a)
	left, readErr := os.ReadDir(s.temp)
	require.NoError(s.t, readErr)
	require.Empty(s.t, left, "the page is removed")
	require.Equal(s.t, len(s.screen.reports) > 0, s.screen.ended > 0)
	if err != nil {
		return nil, err
	}
	var r map[string]any
	require.NoError(s.t, json.Unmarshal(raw, &r))
	return r, nil
}

func (s *sharing) ok(a args) map[string]any {
	s.t.Helper()
	r, err := s.share(a)
	require.NoError(s.t, err)
	return r
}

const gistURL, previewURL = "https://gist.github.com/someone/0123abcd", "https://gistpreview.github.io/?0123abcd"

var twoReplaced = []any{map[string]any{"kind": "named", "count": 2.0, "where": []any{"aaaaaaaa"}}}

// A page that leaves the machine contains no secrets, unless the user wants them there.
// Proves: O-029
func TestShareRedacts(t *testing.T) {
	for name, tc := range map[string]struct {
		a    args
		want map[string]any
		page func(require.TestingT, any, any, ...any)
	}{
		"by default": {
			args{},
			map[string]any{"message": "Anyone with the link can read this secret gist. 2 secrets were replaced (named 2).", "redacted": map[string]any{"named": 2.0}, "replaced": twoReplaced},
			require.NotContains,
		},
		"if that is asked for": {
			args{"redact": true},
			map[string]any{"message": "Anyone with the link can read this secret gist. 2 secrets were replaced (named 2).", "redacted": map[string]any{"named": 2.0}, "replaced": twoReplaced},
			require.NotContains,
		},
		"but not if that is refused": {
			args{"redact": false},
			map[string]any{"message": "Anyone with the link can read this secret gist."},
			require.Contains,
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSharing(t, false)
			s.gh()
			before := read(t, s.Fs, s.file)
			tc.a["source"] = id1
			tc.want["url"], tc.want["previewUrl"], tc.want["via"] = gistURL, previewURL, "gist"
			require.Equal(t, tc.want, s.ok(tc.a))
			page := read(t, s.Fs, s.bin+"/gh.page")
			require.Contains(t, page, "<!DOCTYPE html>")
			tc.page(t, page, "abc123def456")
			require.Equal(t, "talk_"+id1+".html\n", read(t, s.Fs, s.bin+"/gh.name"))
			require.Equal(t, before, read(t, s.Fs, s.file))
		})
	}
}

// The user sees a progress, then the page, and then a message about it.
func TestShareIsShown(t *testing.T) {
	s := newSharing(t, false)
	s.gh()
	s.ok(args{"source": id1})
	require.Equal(t, []string{"Sharing...", "Creating gist..."}, s.screen.reports)
	require.Equal(t, []string{previewURL}, s.screen.opened)
	require.Equal(t, []string{"Anyone with the link can read this secret gist. 2 secrets were replaced (named 2). Shared at " + gistURL}, s.screen.shown)
}

// Proves: O-026
func TestShareWithAHandler(t *testing.T) {
	for script, tc := range map[string]struct {
		cannotOpen    bool
		want          map[string]any
		opened, shown []string
	}{
		"echo https://example.com/1": {
			want:   map[string]any{"url": "https://example.com/1"},
			opened: []string{"https://example.com/1"}, shown: []string{"Shared at https://example.com/1"},
		},
		"echo https://example.com/2": {
			cannotOpen: true, // so the address is shown
			want:       map[string]any{"url": "https://example.com/2"}, opened: []string{"https://example.com/2"},
		},
		`echo '{"url":"https://example.com/1","message":"Look!"}'`: {
			want:   map[string]any{"url": "https://example.com/1", "message": "Look!"},
			opened: []string{"https://example.com/1"}, shown: []string{"Look! Shared at https://example.com/1"},
		},
		`echo 'javascript:alert(1)'`: {want: map[string]any{"url": "javascript:alert(1)"}, shown: []string{"Shared at javascript:alert(1)"}},
		`true`:                       {want: map[string]any{"message": "Session shared"}, shown: []string{"Session shared"}},
	} {
		t.Run(script, func(t *testing.T) {
			s := newSharing(t, false)
			s.screen.cannotOpen = tc.cannotOpen
			s.program(s.agent, "share", script)
			tc.want["via"] = "custom"
			require.Equal(t, tc.want, s.ok(args{"source": id1, "redact": false}))
			require.Equal(t, tc.opened, s.screen.opened)
			require.Equal(t, tc.shown, s.screen.shown)
		})
	}
	s := newSharing(t, false)
	s.program(s.agent, "share", "true")
	write(t, s.Fs, s.file, st.Header(id1, "/w"), st.User("aaaaaaaa", "", "password=abc123def456"))
	require.Equal(t, "Session shared. 1 secret was replaced (named 1).", s.ok(args{"source": id1})["message"])
}

// Text that may be a secret is shown before the page leaves the machine, but its value is not.
func TestShareAsksAboutDoubtfulText(t *testing.T) {
	for name, tc := range map[string]struct {
		answer       int
		doubtful     string
		asked, gone  bool
		failure      fault.Kind
		keptInResult bool
	}{
		"the user cannot be asked":   {answer: commands.Unasked, asked: true, failure: fault.ArgumentNeeded},
		"the user closes it":         {answer: commands.Closed, asked: true, failure: fault.Cancelled},
		"the user cancels":           {answer: 2, asked: true, failure: fault.Cancelled},
		"the user replaces it":       {answer: 0, asked: true, gone: true},
		"the user shares it":         {answer: 1, asked: true, keptInResult: true},
		"the arguments replace it":   {doubtful: "replace", gone: true},
		"the arguments keep it":      {doubtful: "keep", keptInResult: true},
		"the arguments are no words": {doubtful: "burn", failure: fault.InvalidArgument},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSharing(t, false)
			s.gh()
			s.screen.answer = tc.answer
			write(t, s.Fs, s.file, st.Header(id1, "/w"), st.User("aaaaaaaa", "", `password: "swordfish"`))
			r, err := s.share(args{"source": id1, "doubtful": tc.doubtful})
			require.Equal(t, tc.asked, len(s.screen.questions) == 1)
			for _, q := range s.screen.questions {
				require.Contains(t, q.Text, `password: "s…h (aaaaaaaa)`)
				require.NotContains(t, q.Text, "swordfish")
			}
			if tc.failure != "" {
				require.NotContains(t, requireKind(t, tc.failure, err).Error(), "swordfish")
				require.NoFileExists(t, s.bin+"/gh.page")
				return
			}
			require.NoError(t, err)
			require.Equal(t, tc.keptInResult, r["doubtful"] != nil)
			require.Equal(t, tc.gone, !strings.Contains(read(t, s.Fs, s.bin+"/gh.page"), "swordfish"))
		})
	}
}

// Values that the user's own files and variables declare as keys are replaced everywhere.
func TestShareKnowsTheUsersKeys(t *testing.T) {
	s := newSharing(t, false)
	s.gh()
	t.Setenv("ACME_TOKEN", "plain-words-of-acme-4")
	t.Setenv("MY_MODEL_KEY", "words only of mine")
	write(t, s.Fs, s.agent+"/auth.json", `{"a":{"type":"api_key","key":"swordfish-of-a"},"b":{"type":"oauth","access":"access-of-b","refresh":"refresh-of-b"}}`)
	write(t, s.Fs, s.agent+"/models.json", `{"providers":{"c":{"apiKey":"key-of-c","headers":{"Authorization":"Bearer header-of-c"}}}}`)
	secrets := []string{"plain-words-of-acme-4", "swordfish-of-a", "access-of-b", "refresh-of-b", "key-of-c", "header-of-c"}
	write(t, s.Fs, s.file, st.Header(id1, "/w"), st.User("aaaaaaaa", "", strings.Join(secrets, " and ")))
	r := s.ok(args{"source": id1})
	require.Equal(t, map[string]any{"known": 6.0}, r["redacted"])
	page := read(t, s.Fs, s.bin+"/gh.page")
	for _, secret := range secrets {
		require.NotContains(t, page, secret)
	}
}

// A session without a file cannot be exported and so cannot be shared.
// Proves: O-024, O-066
func TestShareInMemory(t *testing.T) {
	s := newSharing(t, true)
	s.gh()
	_, err := s.share(args{})
	require.EqualError(t, requireKind(t, fault.NotPersistent, err), "Cannot export in-memory session to HTML")
	require.NoFileExists(t, s.bin+"/gh.page")
	require.Empty(t, s.screen.shown)
}

func TestShareOfAnEmptySession(t *testing.T) {
	s := newSharing(t, false)
	s.gh()
	require.Equal(t, map[string]any{
		"url": gistURL, "previewUrl": previewURL, "message": "Anyone with the link can read this secret gist.", "via": "gist",
	}, s.ok(args{}))
	require.Contains(t, read(t, s.Fs, s.bin+"/gh.page"), "<!DOCTYPE html>")
}

// If the export of a session fails, nothing is shared.
// Proves: O-024
func TestShareFailsWithTheExport(t *testing.T) {
	s := newSharing(t, false)
	s.gh()
	_, err := s.share(args{"source": "gone"})
	requireKind(t, fault.NotFound, err)
	write(t, s.Fs, s.file, "junk")
	_, err = s.share(args{"source": s.file})
	requireKind(t, fault.Damaged, err)
	require.NoFileExists(t, s.bin+"/gh.page")
	require.Empty(t, s.screen.opened)
}

// If a handler fails, so does the share: no gist is created, and nothing is shown.
// Proves: O-027
func TestShareFailsWithTheHandler(t *testing.T) {
	s := newSharing(t, false)
	s.gh()
	s.program(s.agent, "share", "echo no bucket >&2; exit 1")
	_, err := s.share(args{"source": id1})
	require.EqualError(t, requireKind(t, fault.IO, err), s.agent+"/share failed: no bucket; without that file the session is shared as a gist.")
	require.NoFileExists(t, s.bin+"/gh.page")
	require.Empty(t, append(s.screen.opened, s.screen.shown...))
}

// A cancelled share or export leaves no files behind.
func TestCancelledShare(t *testing.T) {
	s := newSharing(t, false)
	s.gh()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := run(ctx, s.Env, "xcsh.share", args{"source": s.file})
	require.EqualError(t, requireKind(t, fault.Cancelled, err), "Share cancelled")
	_, err = run(ctx, s.Env, "xcsh.export", args{"source": s.file})
	require.EqualError(t, requireKind(t, fault.Cancelled, err), "The export was cancelled.")
	for _, dir := range []string{s.temp, s.Folders()[0]} {
		left, err := os.ReadDir(dir)
		require.NoError(t, err)
		require.Empty(t, left)
	}
}
