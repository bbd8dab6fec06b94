package session_test

import (
	"context"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/fault"
)

const labelLine = `{"type":"label","id":"l1","parentId":"e0","timestamp":"2026-11-20T10:00:02.000Z","targetId":"e0","label":%q}` + "\n"

const descriptionLine = `{"type":"custom","customType":"xcsh-ls.description","data":{"text":%q},"id":"d1","parentId":"e0","timestamp":"2026-11-20T10:00:02.000Z"}` + "\n"

// keeps is why each session of a scope stays, by the name of its file.
func keeps(s session.PurgeScope) map[string]session.PurgeReason {
	why := map[string]session.PurgeReason{}
	for _, p := range s.Sessions {
		why[strings.TrimSuffix(filepath.Base(p.Path), ".jsonl")] = p.Keep
	}
	return why
}

func TestWhatProtectsASession(t *testing.T) {
	t.Parallel()
	onEveryFs(t, func(t *testing.T, fs afero.Fs) {
		_, f := rooted(fs, 1)
		dir := sessionsRoot + "/--home-zed-p--/"
		talk := chat("x", "/home/zed/p", "one", "two")
		header, body, _ := strings.Cut(talk, "\n")
		with := func(member string) string { return strings.TrimSuffix(header, "}") + "," + member + "}\n" + body }
		for name, text := range map[string]string{
			"plain": talk, "only-a-header": header + "\n", "continued": talk,
			"auto": with(`"title":"T","titleSource":"auto"`), "user": with(`"title":"T","titleSource":"user"`),
			"unsaid": with(`"title":"T"`), "blank": with(`"title":""`),
			"slot-user": slotOf("T", "user") + talk, "slot-auto": slotOf("T", "auto") + talk, "slot-empty": slotOf("", "user") + talk,
			"described": talk + fmt.Sprintf(descriptionLine, "D"), "undescribed": talk + fmt.Sprintf(descriptionLine, "D") + fmt.Sprintf(descriptionLine, ""),
			"custom":     talk + strings.Replace(fmt.Sprintf(descriptionLine, "D"), "xcsh-ls.description", "other", 1),
			"named":      talk + `{"type":"session_info","id":"i1","parentId":"e1","timestamp":"2026-11-20T10:00:03.000Z","name":"N"}` + "\n",
			"auto-named": with(`"title":"T","titleSource":"auto"`) + `{"type":"session_info","id":"i1","parentId":"e1","timestamp":"2026-11-20T10:00:03.000Z","name":"N"}` + "\n",
			"labelled":   talk + fmt.Sprintf(labelLine, "L"), "cleared": talk + fmt.Sprintf(labelLine, "L") + fmt.Sprintf(labelLine, ""),
			"torn": talk + `{"type":"mess`, "damaged": talk + "junk\n" + body, "newer": strings.Replace(talk, `"version":3`, `"version":4`, 1),
			"empty": "", "junk": "not a session\n",
		} {
			put(t, fs, dir+name+".jsonl", text)
		}
		put(t, fs, "/home/zed/.xcsh/agent/terminal-sessions/tty1", "/home/zed/p\n"+dir+"continued.jsonl\n")
		put(t, fs, sessionsRoot+"/-p/other.jsonl", chat("y", "/home/zed/q", "one"))
		before := storeHash(t, fs)
		scope, err := f.PurgeScope(t.Context(), "/home/zed/p", false)
		require.NoError(t, err)
		require.Equal(t, map[string]session.PurgeReason{
			"plain": "", "only-a-header": "", "continued": session.KeepContinued,
			"auto": "", "user": session.KeepTitled, "unsaid": session.KeepTitled, "blank": "",
			"slot-user": session.KeepTitled, "slot-auto": "", "slot-empty": "",
			"named": session.KeepTitled, "labelled": session.KeepLabelled, "cleared": "",
			"described": session.KeepDescribed, "undescribed": "", "custom": "", "auto-named": session.KeepTitled,
			"torn": session.KeepDamaged, "damaged": session.KeepDamaged, "newer": session.KeepNewer,
			"empty": session.KeepUnreadable, "junk": session.KeepUnreadable,
		}, keeps(scope))
		require.Equal(t, before, storeHash(t, fs), "looking changes nothing")

		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err = f.PurgeScope(ctx, "/home/zed/p", false)
		require.Equal(t, fault.Cancelled, fault.KindOf(err))
		_, err = f.PurgeScope(t.Context(), "p", false)
		require.Equal(t, fault.InvalidArgument, fault.KindOf(err))
	})
}

// slotOf is omp's title slot.
func slotOf(title, source string) string {
	return fmt.Sprintf(`{"type":"title","v":1,"title":%q,"source":%q,"updatedAt":"2026-11-20T10:00:00.000Z","pad":""}`+"\n", title, source)
}

func TestTheTimeOfASessionIsThatOfItsNewestEntry(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	at := func(id, when string) string {
		return fmt.Sprintf(`{"type":"message","id":%q,"parentId":null,"timestamp":%q,"message":{"role":"user","content":"x","timestamp":1}}`+"\n", id, when)
	}
	header := chat("x", "/home/zed/p")
	for name, text := range map[string]string{
		"in-order":     header + at("a", "2026-11-20T11:00:00.000Z") + at("b", "2026-11-20T11:30:00.000Z"),
		"out-of-order": header + at("a", "2026-11-20T11:30:00.000Z") + at("b", "2026-11-20T11:00:00.000Z"),
		"unreadable":   header + at("a", "2026-11-20T11:30:00.000Z") + at("b", "tomorrow"),
		"no-entry":     header,
	} {
		put(t, fs, sessionsRoot+"/-p/"+name+".jsonl", text)
	}
	scope, err := newFinder(fs).PurgeScope(t.Context(), "/home/zed/p", false)
	require.NoError(t, err)
	require.Len(t, scope.Sessions, 4)
	for _, s := range scope.Sessions {
		want := "2026-11-20T11:30:00.000Z"
		if strings.Contains(s.Path, "no-entry") {
			want = "2026-11-20T10:00:00.000Z"
		}
		require.Equal(t, want, session.FormatTime(s.LastEntry), s.Path)
	}
}

// TestAFolderOwnsOnlyItsSessions: two folders whose names are encoded alike have sessions in
// one directory, and neither may purge the other's.
func TestAFolderOwnsOnlyItsSessions(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	_, f := rooted(fs, 1)
	shared := sessionsRoot + "/--a-b--/"
	put(t, fs, shared+"1.jsonl", chat("1", "/a-b", "x"))
	put(t, fs, shared+"2.jsonl", chat("2", "/a/b", "x"))
	put(t, fs, "/home/zed/.pi/agent/sessions/--a-b--/3.jsonl", chat("3", "/a/b", "x"))
	put(t, fs, sessionsRoot+"/--elsewhere--/4.jsonl", strings.Replace(chat("4", "/elsewhere", "x"), `"cwd"`, `"parentSession":"1","cwd"`, 1))
	for cwd, want := range map[string][]string{"/a-b": {"1"}, "/a/b": {"2", "3"}} {
		scope, err := f.PurgeScope(t.Context(), cwd, false)
		require.NoError(t, err)
		var got []string
		for _, s := range scope.Sessions {
			got = append(got, s.ID)
		}
		require.ElementsMatch(t, want, got, cwd)
		require.Equal(t, []string{"1"}, scope.Forks)
	}
	scope, err := f.PurgeScope(t.Context(), "", true)
	require.NoError(t, err)
	require.Len(t, scope.Sessions, 4)
	p := session.PlanPurge(scope.Sessions, scope.Forks, 0, noon)
	require.Empty(t, p.Plan, "each is the newest of its folder or of its program there")
}

func TestSessionsOpenElsewhereAreProtected(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	f := newFinder(fs)
	dir := sessionsRoot + "/-p/"
	for _, name := range []string{"open", "written", "crashed", "free"} {
		put(t, fs, dir+name+".jsonl", chat(name, "/home/zed/p", "x"))
	}
	put(t, fs, "/locks/open.lock", fmt.Sprintf(`{"pid":7,"startedAt":"2026-11-20T10:00:00.000Z","host":"elsewhere","path":%q,"app":"xcsh-ls"}`, dir+"open.jsonl"))
	put(t, fs, dir+".written.jsonl.lock", fmt.Sprintf("%d:1\n", os.Getppid()))
	put(t, fs, dir+".crashed.jsonl.lock", "2147483646:1\n")
	s := session.NewStore(session.StoreConfig{Fs: fs, DirFor: f.DirFor, RootFor: f.FileRoot, LockDir: "/locks", IDs: session.NewIDs(f.Now, rand.New(rand.NewSource(1)))})
	scope, err := f.PurgeScope(t.Context(), "/home/zed/p", false)
	require.NoError(t, err)
	s.MarkLocked(scope.Sessions)
	require.Equal(t, map[string]session.PurgeReason{"open": session.KeepLocked, "written": session.KeepLocked, "crashed": "", "free": ""}, keeps(scope))
	for _, i := range session.PlanPurge(scope.Sessions, nil, 0, noon).Protected {
		switch i.ID {
		case "open":
			require.Equal(t, "Another program has it open (pid 7 on elsewhere).", i.Message)
		case "written":
			require.Equal(t, fmt.Sprintf("Another program has it open (pid %d).", os.Getppid()), i.Message)
		}
	}
}

// TestNothingIsDeletedByDefault lists, opens and closes 200 sessions that nobody touched for
// 400 days, again and again.
func TestNothingIsDeletedByDefault(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	old := noon.AddDate(0, 0, -400)
	for i := range 200 {
		path := fmt.Sprintf("%s/-p/%03d.jsonl", sessionsRoot, i)
		putSession(t, fs, path, chat(fmt.Sprint(i), "/home/zed/p", "x"), noon.Sub(old)+time.Duration(i)*time.Hour)
	}
	before := storeHash(t, fs)
	for restart := range 10 {
		s, f := rooted(fs, int64(restart))
		infos, _, err := f.List(t.Context(), "/home/zed/p", session.ListOptions{})
		require.NoError(t, err)
		require.Len(t, infos, 200)
		l, err := s.Open(infos[restart].Path)
		require.NoError(t, err)
		require.NoError(t, l.Close())
		_, err = f.PurgeScope(t.Context(), "/home/zed/p", false)
		require.NoError(t, err)
	}
	require.Equal(t, before, storeHash(t, fs))
}
