package commands_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/leaktest"
	"github.com/xcsh-ls/xcsh-ls/internal/racetest"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/library"
)

const (
	sid1       = "1f9d0000-0000-4000-8000-000000000001"
	remoteID   = "0190000000000002"
	remoteFile = sessions + "/2026-01-02T00-00-00-000Z_" + remoteID + ".jsonl"
)

// fakeTeam is a store in memory. It implements [commands.Team] and [commands.TeamNewest].
type fakeTeam struct {
	fs     afero.Fs
	remote []library.Info                 // sessions without a file here
	local  map[string]library.Team        // by the path of the file
	bodies map[string]string              // by sid: the session file
	writer map[string]commands.TeamWriter // by sid
	newest *library.Info
	down   error // what every call returns that needs the network
	plan   commands.TeamPlan
	parts  chan string // what Follow passes on after the body; nil ends it at once

	mu     sync.Mutex
	calls  []string // guarded by mu, like all below
	shared []commands.TeamSharing
}

func (f *fakeTeam) call(format string, a ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls = append(f.calls, fmt.Sprintf(format, a...))
}

func (f *fakeTeam) take() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	calls := f.calls
	f.calls = nil
	return calls
}

func (f *fakeTeam) Status() commands.TeamStatus {
	return commands.TeamStatus{State: "ok", Server: "db\x1b[2J", User: "ann"}
}

func (f *fakeTeam) Plan(_ context.Context, s commands.TeamSharing) (commands.TeamPlan, error) {
	f.call("plan %s", s.Scope)
	p := f.plan
	p.Token = "token-" + s.Scope
	return p, f.down
}

func (f *fakeTeam) Share(_ context.Context, s commands.TeamSharing, token string) error {
	if s.Scope != "off" && token != "token-"+s.Scope {
		return fault.New(fault.Stale, "What would be sent has changed since the plan was made. Nothing was sent.")
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.shared = append(f.shared, s)
	return nil
}

func (f *fakeTeam) Mark(infos []library.Info) {
	for i := range infos {
		if t, ok := f.local[infos[i].Path]; ok {
			infos[i].Team = &t
		}
	}
}

func (f *fakeTeam) List(_ context.Context, _, query string, infos []library.Info) ([]library.Info, []session.Problem, error) {
	f.call("list %s", query)
	f.Mark(infos)
	if f.down != nil {
		return f.remote, []session.Problem{{Kind: "offline", Message: f.down.Error()}}, nil
	}
	return f.remote, nil, nil
}

func (f *fakeTeam) Find(_ context.Context, _, target string) (found []library.Info, err error) {
	f.call("find %s", target)
	for _, i := range f.remote {
		if i.Team != nil && i.Team.SID == target || i.ID == target || i.Title == target {
			found = append(found, i)
		}
	}
	return found, f.down
}

func (f *fakeTeam) Pull(_ context.Context, sid, cwd string, progress func(done, total int64)) (string, int64, error) {
	f.call("pull %s %s", sid, cwd)
	if f.down != nil {
		return "", 0, f.down
	}
	body := f.bodies[sid]
	progress(0, int64(len(body)))
	progress(int64(len(body)), int64(len(body)))
	return remoteFile, int64(len(body)), afero.WriteFile(f.fs, remoteFile, []byte(body), 0o600)
}

func (f *fakeTeam) Writer(_ context.Context, sid string) (commands.TeamWriter, error) {
	return f.writer[sid], f.down
}

func (f *fakeTeam) Wait(_ context.Context, sid string) error {
	f.call("wait %s", sid)
	return f.down
}

func (f *fakeTeam) Take(_ context.Context, sid string, force bool) (int64, error) {
	f.call("take %s %t", sid, force)
	if w := f.writer[sid]; w.Device != "" && !force {
		return 0, fault.New(fault.Busy, "Kim writes.").With("owner", w.Owner).With("device", w.Device).With("leftMs", w.LeftMs)
	}
	return 7, f.down
}

func (f *fakeTeam) Follow(ctx context.Context, sid, _ string, got func(b []byte, begin bool)) error {
	f.call("follow %s", sid)
	if f.down != nil {
		return f.down
	}
	got([]byte(f.bodies[sid]), true)
	if f.parts == nil {
		return nil
	}
	for {
		select {
		case part := <-f.parts:
			b := []byte(part)
			got(b, false)
			clear(b) // the callback must not keep it
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (f *fakeTeam) Delete(_ context.Context, sid string, undo bool) error {
	f.call("delete %s %t", sid, undo)
	return f.down
}

func (f *fakeTeam) SID(path string) string { return f.local[path].SID }

func (f *fakeTeam) Newest(context.Context, string) (library.Info, bool, error) {
	f.call("newest")
	if f.newest == nil {
		return library.Info{}, false, f.down
	}
	return *f.newest, true, f.down
}

func unreachable() error {
	return fault.New(fault.Offline, "The team store cannot be reached (db.acme.example: connection refused).")
}

// kims is a session of another user that is only in the store.
func kims(sid, id, title string) library.Info {
	return library.Info{
		ID: id, Title: title, Name: title, Cwd: ".", Modified: "2026-01-05T00:00:00.000Z", Origin: "xcsh",
		Team: &library.Team{SID: sid, Owner: "kim", Visible: "team", Remote: true},
	}
}

// newTeamEnv is newEnv with a store that has one session of another user.
func newTeamEnv(fs afero.Fs, options ...func(*agent.Config)) (*commands.Env, *fakeTeam) {
	team := &fakeTeam{
		fs: fs, remote: []library.Info{kims(sid1, remoteID, "Kim's plan")}, local: map[string]library.Team{}, writer: map[string]commands.TeamWriter{},
		bodies: map[string]string{sid1: st.File(talk(remoteID)...)},
		plan: commands.TeamPlan{
			Server: "db.acme.example/sessions", User: "ann", TLS: "verified", Team: "core", Project: "github.com/acme/app", Readers: 12, Older: 42,
			Redacted: map[string]int{"github": 9, "named": 8}, Examples: []string{"github: a.jsonl, line 3"}, Text: "Send this project's conversations?",
		},
	}
	env := newEnv(fs, options...)
	env.Team = team
	return env, team
}

func sidsOf(t *testing.T, r map[string]any) (sids []string) {
	t.Helper()
	for _, s := range r["sessions"].([]any) {
		of, _ := s.(map[string]any)["team"].(map[string]any)
		sid, _ := of["sid"].(string)
		sids = append(sids, sid)
	}
	return sids
}

func TestListingTheTeam(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	write(t, fs, file1, talk(id1)...)
	env, team := newTeamEnv(fs)
	team.local[file1] = library.Team{SID: "mine", Owner: "ann", Visible: "team", Unsent: 5}

	r := do(t, env, "xcsh.list", args{"scope": "team"})
	require.ElementsMatch(t, []string{"mine", sid1}, sidsOf(t, r))
	require.Empty(t, r["problems"])
	for _, s := range r["sessions"].([]any) {
		of := s.(map[string]any)["team"].(map[string]any)
		require.Equal(t, of["sid"] == sid1, of["remote"] == true)
	}
	first := do(t, env, "xcsh.list", args{"scope": "team", "limit": 1})
	second := do(t, env, "xcsh.list", args{"scope": "team", "limit": 1, "cursor": first["nextCursor"]})
	require.Equal(t, sidsOf(t, r), append(sidsOf(t, first), sidsOf(t, second)...))
	require.Nil(t, second["nextCursor"])

	team.take()
	for _, scope := range []string{"folder", "all"} {
		require.Equal(t, []string{"mine"}, sidsOf(t, do(t, env, "xcsh.list", args{"scope": scope})), "marked from memory")
	}
	require.Empty(t, team.take(), "the store is not asked")

	team.down = unreachable()
	r = do(t, env, "xcsh.list", args{"scope": "team"})
	require.Len(t, r["sessions"], 2, "what was last seen")
	require.Equal(t, "offline", r["problems"].([]any)[0].(map[string]any)["kind"])

	env.Team = nil
	_, err := run(t.Context(), env, "xcsh.list", args{"scope": "team"})
	requireKind(t, fault.Refused, err)
}

// Other users wrote the texts of the store: none of them controls a terminal, pretends to be a file, or is of any size.
func TestHostileSessionsOfTheStore(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	env, team := newTeamEnv(fs)
	evil := "\x1b]0;owned\x07\u202egnp.exe\r\nSecond line\x00" + strings.Repeat("x", 100_000)
	hostile := kims("../../etc/passwd", "a", "bad id")
	noTeam := kims(sid1, "b", "no team")
	noTeam.Team = nil
	path := kims("s-path", "c", "has a path")
	path.Path, path.Live, path.LockedBy = "/etc/passwd", true, "pid 1"
	texts := kims("s-texts", evil, evil)
	texts.Name, texts.FirstMessage, texts.Cwd, texts.Slug, texts.Created, texts.Modified = evil, evil, evil, evil, evil, evil
	texts.Team = &library.Team{SID: "s-texts", Owner: evil, Writer: evil, Visible: evil, Variant: -1, WriterLeftMs: -5}
	texts.Snippet = &library.Snippet{Text: "short", Ranges: [][2]int{{-1, 3}, {0, 99}, {2, 1}, {1, 3}}}
	team.remote = []library.Info{hostile, noTeam, path, texts, texts}

	raw, err := run(t.Context(), env, "xcsh.list", args{"scope": "team"})
	require.NoError(t, err)
	require.Less(t, len(raw), 40_000)
	var r struct {
		Sessions []library.Info `json:"sessions"`
	}
	require.NoError(t, json.Unmarshal(raw, &r))
	require.Len(t, r.Sessions, 2, "a session without a usable id is left out, and one is shown once")
	for _, i := range r.Sessions {
		require.Empty(t, i.Path)
		require.False(t, i.Live)
		require.Empty(t, i.LockedBy)
		require.True(t, i.Team.Remote)
		for _, text := range []string{i.ID, i.Title, i.Name, i.FirstMessage, i.Cwd, i.Slug, i.Created, i.Modified, i.Team.Owner, i.Team.Writer, i.Team.Visible} {
			require.NotContains(t, text, "\u202e")
			require.False(t, strings.ContainsFunc(text, unicode.IsControl), "%q", text)
		}
		if i.Snippet != nil {
			require.Equal(t, [][2]int{{1, 3}}, i.Snippet.Ranges)
		}
	}
	_, err = run(t.Context(), env, "xcsh.resume", args{"target": "../../etc/passwd"})
	requireKind(t, fault.NotFound, err)
	require.NotContains(t, team.take(), "pull ../../etc/passwd /w")
}

func TestAStoreWithManySessions(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	write(t, fs, file1, talk(id1)...)
	env, team := newTeamEnv(fs)
	team.remote = nil
	for n := range 10_000 {
		info := kims(fmt.Sprintf("s-%05d", n), fmt.Sprintf("id-%05d", n), "one of many")
		info.ModTime = time.Date(2025, 1, 1, 0, 0, n, 0, time.UTC)
		team.remote = append(team.remote, info)
	}
	seen, cursor := map[string]bool{}, any(nil)
	for {
		a := args{"scope": "team", "limit": 3000}
		if cursor != nil {
			a["cursor"] = cursor
		}
		r := do(t, env, "xcsh.list", a)
		for _, sid := range sidsOf(t, r) {
			require.False(t, seen[sid] && sid != "", sid)
			seen[sid] = true
		}
		if cursor = r["nextCursor"]; cursor == nil {
			break
		}
	}
	require.Len(t, seen, 10_001)
	_, err := run(t.Context(), env, "xcsh.resume", args{"target": "one of many"})
	require.Error(t, err)
	_, err = run(t.Context(), env, "xcsh.team.take", args{"source": "one of many"})
	f := requireKind(t, fault.Ambiguous, err)
	raw, err := json.Marshal(f.Data)
	require.NoError(t, err)
	require.Less(t, len(raw), 20_000)
}

func TestResumingASessionOfTheStore(t *testing.T) {
	t.Parallel()
	for _, target := range []string{sid1, remoteID, "Kim's plan"} {
		t.Run(target, func(t *testing.T) {
			t.Parallel()
			fs := afero.NewMemMapFs()
			env, team := newTeamEnv(fs)
			user := &watchingProgress{}
			env.UI = user
			r := do(t, env, "xcsh.resume", args{"target": target})
			require.Equal(t, true, r["switched"])
			require.InDelta(t, len(team.bodies[sid1]), r["pulled"].(map[string]any)["bytes"], 0)
			require.Equal(t, remoteID, r["session"].(map[string]any)["sessionId"])
			require.Contains(t, team.take(), "pull "+sid1+" /w")
			require.Contains(t, strings.Join(user.reports, "\n"), "0.0 MB of 0.0 MB 100")
		})
	}
}

// watchingProgress records progress reports.
type watchingProgress struct {
	commands.Headless
	reports []string
}

func (w *watchingProgress) Progress(_ context.Context, title string) commands.Progress {
	w.reports = append(w.reports, title)
	return w
}

func (w *watchingProgress) Report(message string, percent int) {
	w.reports = append(w.reports, fmt.Sprint(message, " ", percent))
}

func (w *watchingProgress) End(string) { w.reports = append(w.reports, "end") }

func TestATargetThatIsNowhere(t *testing.T) {
	t.Parallel()
	env, team := newTeamEnv(afero.NewMemMapFs())
	_, err := run(t.Context(), env, "xcsh.resume", args{"target": "nothing"})
	requireKind(t, fault.NotFound, err)
	_, err = run(t.Context(), env, "xcsh.resume", args{"target": sid1, "scope": "folder"})
	requireKind(t, fault.NotFound, err)
	team.down = unreachable()
	_, err = run(t.Context(), env, "xcsh.resume", args{"target": "nothing"})
	requireKind(t, fault.Offline, err)
	before := env.Sessions.Live("/w").File()
	_, err = run(t.Context(), env, "xcsh.resume", args{"target": sid1})
	requireKind(t, fault.Offline, err)
	require.Equal(t, before, env.Sessions.Live("/w").File())
	_, err = run(t.Context(), env, "xcsh.resume", args{"target": sid1, "onBusy": "steal"})
	requireKind(t, fault.InvalidArgument, err)
}

// sequence answers questions in order.
type sequence struct {
	commands.Headless
	answers []string
	asked   []commands.Question
}

func (s *sequence) Ask(_ context.Context, q commands.Question) (int, error) {
	s.asked = append(s.asked, q)
	answer := s.answers[0]
	s.answers = s.answers[1:]
	return slices.Index(q.Choices, answer), nil
}

func TestASessionThatAnotherUserWrites(t *testing.T) {
	t.Parallel()
	const take, wait, fork = "take " + sid1 + " true", "wait " + sid1, "fork"
	for name, test := range map[string]struct {
		onBusy  string
		answers []string
		call    string
		kind    fault.Kind
	}{
		"take":          {onBusy: "take", call: take},
		"wait":          {onBusy: "wait", call: wait},
		"fork":          {onBusy: "fork", call: fork},
		"unasked":       {kind: fault.Busy},
		"not asked":     {onBusy: "fail", answers: []string{"Take over now", "Take over"}, kind: fault.Busy},
		"asked to take": {answers: []string{"Take over now", "Take over"}, call: take},
		"not that sure": {answers: []string{"Take over now", "Cancel"}, kind: fault.Cancelled},
		"asked to wait": {answers: []string{"Take over when kim is done"}, call: wait},
		"asked to fork": {answers: []string{"Fork"}, call: fork},
		"closed":        {answers: []string{"nothing of it"}, kind: fault.Cancelled},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fs := afero.NewMemMapFs()
			env, team := newTeamEnv(fs)
			team.writer[sid1] = commands.TeamWriter{Owner: "kim", Device: "devbox", LeftMs: 23_001}
			user := &sequence{answers: test.answers}
			if test.answers != nil {
				env.UI = user
			}
			raw, err := run(t.Context(), env, "xcsh.resume", args{"target": sid1, "onBusy": test.onBusy})
			if test.kind != "" {
				f := requireKind(t, test.kind, err)
				if test.kind == fault.Busy {
					require.Equal(t, "kim writes in this session on devbox (for 24 s at least). Read along, fork it, or take over.", f.Message)
					require.Equal(t, map[string]any{"owner": "kim", "device": "devbox", "leftMs": int64(23_001)}, f.Data)
				}
				require.Empty(t, tree(t, fs), "nothing was pulled")
				return
			}
			require.NoError(t, err)
			var r commands.ResumeResult
			require.NoError(t, json.Unmarshal(raw, &r))
			require.True(t, r.Switched)
			require.NotNil(t, r.Pulled)
			if test.call == fork {
				require.Equal(t, remoteFile, r.ForkedFrom)
				require.NotEqual(t, remoteID, r.Session.SessionID)
				return
			}
			require.Contains(t, team.take(), test.call)
			require.Equal(t, remoteID, r.Session.SessionID)
			if test.answers != nil {
				require.Equal(t, "kim writes in this session on devbox (for 24 s at least).", user.asked[0].Text)
			}
		})
	}
}

// Another device of the same user is not asked about.
func TestOnesOwnOtherDevice(t *testing.T) {
	t.Parallel()
	env, team := newTeamEnv(afero.NewMemMapFs())
	team.writer[sid1] = commands.TeamWriter{Owner: "ann", Device: "desk", LeftMs: 10_000, Mine: true}
	require.Equal(t, true, do(t, env, "xcsh.resume", args{"target": sid1})["switched"])
}

// A session with a file here is completed from the store first. Without the network it is resumed as it is.
func TestResumingALocalSessionOfTheTeam(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	write(t, fs, remoteFile, talk(remoteID)...)
	env, team := newTeamEnv(fs)
	team.remote = nil
	team.local[remoteFile] = library.Team{SID: sid1}
	team.bodies[sid1] += st.User("cccccccc", "bbbbbbbb", "three") + "\n"
	require.Nil(t, do(t, env, "xcsh.resume", args{"target": remoteID})["pulled"], "nothing is newer")
	require.Empty(t, team.take())

	team.local[remoteFile] = library.Team{SID: sid1, Newer: 10}
	do(t, env, "xcsh.new", nil)
	team.down = unreachable()
	require.Equal(t, true, do(t, env, "xcsh.resume", args{"target": remoteFile})["switched"])
	do(t, env, "xcsh.new", nil)
	team.down = nil
	r := do(t, env, "xcsh.resume", args{"target": remoteFile})
	require.NotNil(t, r["pulled"])
	require.Equal(t, "cccccccc", r["session"].(map[string]any)["leafId"])
}

func TestContinuingInTheNextContainer(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	env, team := newTeamEnv(fs)
	require.Equal(t, true, do(t, env, "xcsh.continue", nil)["switched"])
	require.Equal(t, []string{"newest"}, team.take(), "the project is not shared, or has no session")

	mine := kims(sid1, remoteID, "mine")
	team.newest = &mine
	r := do(t, env, "xcsh.continue", nil)
	require.Equal(t, remoteID, r["session"].(map[string]any)["sessionId"])
	require.Equal(t, "bbbbbbbb", r["session"].(map[string]any)["leafId"], "to its last line")
	require.NotNil(t, r["pulled"])

	team.take()
	do(t, env, "xcsh.continue", nil)
	require.Empty(t, team.take(), "the folder has a session now")

	offlineEnv, down := newTeamEnv(afero.NewMemMapFs())
	down.down = unreachable()
	require.Equal(t, true, do(t, offlineEnv, "xcsh.continue", nil)["switched"], "a new session")
}

func TestSharing(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	write(t, fs, file1, talk(id1)...)
	env, team := newTeamEnv(fs)
	plan := do(t, env, "xcsh.team.share", args{"scope": "new"})
	require.Empty(t, team.shared, "a plan changes nothing")
	require.Equal(t, "verified", plan["tls"])
	require.Nil(t, plan["shared"])
	r := do(t, env, "xcsh.team.share", args{"scope": "new", "planToken": plan["planToken"], "visible": "me"})
	require.Equal(t, map[string]any{"shared": "new"}, r)
	require.Equal(t, []commands.TeamSharing{{Cwd: "/w", Scope: "new", Visible: "me"}}, team.shared)

	_, err := run(t.Context(), env, "xcsh.team.share", args{"scope": "all", "planToken": plan["planToken"]})
	requireKind(t, fault.Stale, err)
	do(t, env, "xcsh.team.share", args{"scope": "session", "source": id1, "planToken": "token-session"})
	require.Equal(t, file1, team.shared[1].Path)
	team.down = unreachable()
	do(t, env, "xcsh.team.share", args{"scope": "off"})
	require.Equal(t, "off", team.shared[2].Scope, "without the network, too")
	_, err = run(t.Context(), env, "xcsh.team.share", args{"scope": "new"})
	requireKind(t, fault.Offline, err)
	for _, wrong := range []args{{"scope": "some"}, {"visible": "all"}, {"scope": "new", "source": id1}} {
		_, err := run(t.Context(), env, "xcsh.team.share", wrong)
		requireKind(t, fault.InvalidArgument, err)
	}
	require.Len(t, team.shared, 3)
}

func TestAskingForConsent(t *testing.T) {
	t.Parallel()
	const now, older, replaced, not = "From now on", "Also the older ones", "Show what is replaced", "Not now"
	for name, test := range map[string]struct {
		answers []string
		want    string
	}{
		"from now on":         {[]string{now}, "new"},
		"also the older ones": {[]string{older}, "all"},
		"after the examples":  {[]string{replaced, now}, "new"},
		"not now":             {[]string{not}, ""},
		"closed":              {[]string{"nothing of it"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env, team := newTeamEnv(afero.NewMemMapFs())
			user := &sequence{answers: test.answers}
			env.UI = user
			r := do(t, env, "xcsh.team.share", nil)
			require.Equal(t, commands.Question{Text: "Send this project's conversations?", Choices: []string{now, older, replaced, not}}, user.asked[0])
			if test.want == "" {
				require.Empty(t, team.shared)
				require.Equal(t, "token-new", r["planToken"])
				return
			}
			require.Equal(t, []commands.TeamSharing{{Cwd: "/w", Scope: test.want}}, team.shared)
			if len(test.answers) > 1 {
				require.Contains(t, user.asked[1].Text, "github: a.jsonl, line 3")
				require.Equal(t, []string{now, older, not}, user.asked[1].Choices)
			}
		})
	}
}

// changingTeam has other readers at the second look.
type changingTeam struct {
	*fakeTeam
	looks int
}

func (c *changingTeam) Plan(ctx context.Context, s commands.TeamSharing) (commands.TeamPlan, error) {
	p, err := c.fakeTeam.Plan(ctx, s)
	p.Readers += c.looks
	c.looks++
	return p, err
}

// The older conversations are not sent to readers that the user did not see.
func TestConsentIsForTheReadersThatWereShown(t *testing.T) {
	t.Parallel()
	env, team := newTeamEnv(afero.NewMemMapFs())
	env.Team, env.UI = &changingTeam{fakeTeam: team}, &sequence{answers: []string{"Also the older ones"}}
	_, err := run(t.Context(), env, "xcsh.team.share", nil)
	requireKind(t, fault.Stale, err)
	require.Empty(t, team.shared)
}

func TestRemovingFromTheStore(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	write(t, fs, file1, talk(id1)...)
	env, team := newTeamEnv(fs)
	team.local[file1] = library.Team{SID: "mine"}
	_, err := run(t.Context(), env, "xcsh.team.unshare", args{"source": id1})
	requireKind(t, fault.InvalidArgument, err)
	_, err = run(t.Context(), env, "xcsh.team.unshare", args{"source": id1, "confirm": false})
	requireKind(t, fault.InvalidArgument, err)
	require.Empty(t, team.take())
	before := tree(t, fs)
	require.Equal(t, "mine", do(t, env, "xcsh.team.unshare", args{"source": id1, "confirm": true})["sid"])
	require.Equal(t, sid1, do(t, env, "xcsh.team.unshare", args{"source": "Kim's plan", "confirm": true})["sid"])
	do(t, env, "xcsh.team.undelete", args{"sid": "mine"})
	require.Equal(t, []string{"delete mine false", "find Kim's plan", "delete " + sid1 + " false", "delete mine true"}, team.take())
	require.Equal(t, before, tree(t, fs), "files stay")
	for _, sid := range []string{"../x", "a b", strings.Repeat("x", 65)} {
		_, err = run(t.Context(), env, "xcsh.team.undelete", args{"sid": sid})
		requireKind(t, fault.InvalidArgument, err)
	}
	delete(team.local, file1)
	_, err = run(t.Context(), env, "xcsh.team.unshare", args{"source": id1, "confirm": true})
	requireKind(t, fault.NotFound, err)
}

func TestTakingOver(t *testing.T) {
	t.Parallel()
	env, team := newTeamEnv(afero.NewMemMapFs())
	require.InDelta(t, 7, do(t, env, "xcsh.team.take", args{"source": sid1})["fence"], 0)
	team.writer[sid1] = commands.TeamWriter{Owner: "kim", Device: "devbox", LeftMs: 1}
	_, err := run(t.Context(), env, "xcsh.team.take", args{"source": sid1})
	require.Equal(t, "devbox", requireKind(t, fault.Busy, err).Data["device"])
	require.InDelta(t, 7, do(t, env, "xcsh.team.take", args{"source": sid1, "force": true})["fence"], 0)
}

func TestCommandsWithoutAStore(t *testing.T) {
	t.Parallel()
	env := newEnv(afero.NewMemMapFs())
	require.Equal(t, "off", do(t, env, "xcsh.team.status", nil)["state"])
	for name, a := range map[string]args{
		"xcsh.team.share": nil, "xcsh.team.follow": {"source": sid1}, "xcsh.team.unshare": {"source": sid1, "confirm": true}, "xcsh.team.undelete": {"sid": sid1},
		"xcsh.team.take": {"source": sid1},
	} {
		_, err := run(t.Context(), env, name, a)
		requireKind(t, fault.Refused, err)
	}
	with, _ := newTeamEnv(afero.NewMemMapFs())
	require.NotContains(t, do(t, with, "xcsh.team.status", nil)["server"], "\x1b")
}

// following is an environment whose client reads along. changed gets the address of each document that changed.
func following(t *testing.T, fs afero.Fs) (env *commands.Env, team *fakeTeam, changed chan string) {
	t.Helper()
	env, team = newTeamEnv(fs)
	changed = make(chan string, 1000)
	team.parts = make(chan string)
	env.Follows = commands.NewFollows(t.Context(), func(uri string) { changed <- uri })
	t.Cleanup(env.Follows.Close)
	return env, team, changed
}

func TestFollowing(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	env, team, changed := following(t, fs)
	uri := do(t, env, "xcsh.team.follow", args{"source": sid1})["uri"].(string)
	require.Equal(t, "xcsh-team:/"+sid1+".md", uri)
	require.Equal(t, uri, <-changed)
	text, err := env.Follows.Text(t.Context(), uri)
	require.NoError(t, err)
	require.Contains(t, text, "one")
	require.Contains(t, text, "two")
	require.Equal(t, uri, do(t, env, "xcsh.team.follow", args{"source": sid1})["uri"])
	require.Len(t, slices.DeleteFunc(team.take(), func(c string) bool { return !strings.HasPrefix(c, "follow") }), 1, "it is followed once")

	line := st.User("cccccccc", "bbbbbbbb", "three more") + "\n"
	team.parts <- line[:20]
	team.parts <- line[20:]
	for !strings.Contains(text, "three more") {
		require.Equal(t, uri, <-changed)
		text, err = env.Follows.Text(t.Context(), strings.Replace(uri, ":/", ":///", 1))
		require.NoError(t, err)
	}
	do(t, env, "xcsh.team.follow", args{"source": sid1, "stop": true})
	after, err := env.Follows.Text(t.Context(), uri)
	require.NoError(t, err)
	require.Equal(t, text, after, "it stays as it is")
	require.Empty(t, tree(t, fs), "nothing was written")

	page := do(t, env, "xcsh.messages", args{"source": uri})
	require.EqualValues(t, 3, page["total"])
	require.Contains(t, fmt.Sprint(page["messages"]), "three more")
	older := do(t, env, "xcsh.messages", args{"source": uri, "limit": 1})["older"].(map[string]any)
	require.Contains(t, fmt.Sprint(do(t, env, "xcsh.messages", args{"source": uri, "cursor": older["cursor"]})["messages"]), "one")
	_, err = run(t.Context(), env, "xcsh.messages", args{"source": "xcsh-team:/other.md"})
	requireKind(t, fault.NotFound, err)
	require.Empty(t, tree(t, fs), "nothing was written")

	for _, other := range []string{"xcsh-team:/other.md", "xcsh-team:/../../etc/passwd.md", "file:///etc/passwd", ""} {
		_, err = env.Follows.Text(t.Context(), other)
		requireKind(t, fault.NotFound, err)
	}
}

// A followed session of any size stays within a limit. What is shown then is its end.
func TestFollowingAHugeSession(t *testing.T) {
	t.Parallel()
	racetest.Large(t)
	env, team, changed := following(t, afero.NewMemMapFs())
	uri := do(t, env, "xcsh.team.follow", args{"source": sid1})["uri"].(string)
	parent := "bbbbbbbb"
	for n := range 40 {
		id := fmt.Sprintf("%08x", n+1)
		team.parts <- st.User(id, parent, strings.Repeat("a long text ", 1<<16)) + "\n"
		parent = id
	}
	team.parts <- strings.Repeat("an endless line ", 2<<20) // 32 MiB
	team.parts <- "\n" + st.User("eeeeeeee", parent, "the end of it") + "\n"
	team.parts <- "" // it is taken when all others are
	require.NotEmpty(t, changed)
	text, err := env.Follows.Text(t.Context(), uri)
	require.NoError(t, err)
	require.Contains(t, text, "the end of it")
	require.Contains(t, text, "The beginning of this conversation is too large")
	require.Less(t, len(text), 20<<20)
}

func TestFollowingWithoutTheNetwork(t *testing.T) {
	t.Parallel()
	env, team, _ := following(t, afero.NewMemMapFs())
	team.local[file1] = library.Team{SID: sid1}
	do(t, env, "xcsh.state", nil)
	team.down = unreachable()
	_, err := run(t.Context(), env, "xcsh.team.follow", args{"source": sid1})
	requireKind(t, fault.Offline, err)
}

// Reading along instead of resuming leaves the live session as it is.
func TestReadingAlong(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	env, team, _ := following(t, fs)
	team.writer[sid1] = commands.TeamWriter{Owner: "kim", Device: "devbox", LeftMs: 1}
	before := do(t, env, "xcsh.state", nil)["sessionId"]
	r := do(t, env, "xcsh.resume", args{"target": sid1, "onBusy": "read"})
	require.Equal(t, false, r["switched"])
	require.Equal(t, "xcsh-team:/"+sid1+".md", r["following"])
	require.Equal(t, before, r["session"].(map[string]any)["sessionId"])
	require.Empty(t, tree(t, fs))
}

// The end of a client ends all that it follows. Not parallel: it inspects the goroutines of the whole process.
func TestFollowingLeavesNoGoroutine(t *testing.T) {
	end := leaktest.Begin(t)
	env, team := newTeamEnv(afero.NewMemMapFs())
	team.parts = make(chan string)
	env.Follows = commands.NewFollows(t.Context(), func(string) {})
	team.remote = nil
	for n := range 20 { // more than are followed at a time
		sid := fmt.Sprint("s-", n)
		team.remote, team.bodies[sid] = append(team.remote, kims(sid, sid, sid)), st.File(talk(remoteID)...)
		do(t, env, "xcsh.team.follow", args{"source": sid})
	}
	env.Follows.Close()
	_, err := run(t.Context(), env, "xcsh.team.follow", args{"source": "s-1"})
	require.Error(t, err)
	require.NoError(t, env.Sessions.Close(t.Context()))
	end()
}

// Without a store, what the commands return is what it was: no new member appears.
func TestNothingChangesWithoutAStore(t *testing.T) {
	t.Parallel()
	results := func(set func(env *commands.Env)) map[string]string {
		fs := afero.NewMemMapFs()
		write(t, fs, file1, talk(id1)...)
		at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		require.NoError(t, fs.Chtimes(file1, at, at))
		env := newEnv(fs)
		set(env)
		all := map[string]string{}
		for _, name := range []string{"xcsh.list", "xcsh.continue", "xcsh.info"} {
			raw, err := run(t.Context(), env, name, nil)
			require.NoError(t, err)
			all[name] = string(raw)
		}
		return all
	}
	without := results(func(*commands.Env) {})
	for name := range maps.Keys(without) {
		require.NotContains(t, without[name], `"team"`)
		require.NotContains(t, without[name], `"pulled"`)
	}
	idle := &fakeTeam{}
	require.Equal(t, without, results(func(env *commands.Env) { env.Team = idle }), "nor with a store that has nothing")
	require.Empty(t, idle.take())
}
