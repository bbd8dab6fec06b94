package upkeep_test

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

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/sessiontest/kit"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/library"
	"github.com/xcsh-ls/xcsh-ls/session/upkeep"
)

const labelLine = `{"type":"label","id":"l1","parentId":"e0","timestamp":"2026-11-20T10:00:02.000Z","targetId":"e0","label":%q}` + "\n"

const descriptionLine = `{"type":"custom","customType":"xcsh-ls.description","data":{"text":%q},"id":"d1","parentId":"e0","timestamp":"2026-11-20T10:00:02.000Z"}` + "\n"

// keeps are the reasons for keeping each session of a scope, by file name.
func keeps(s upkeep.PurgeScope) map[string]string {
	why := map[string]string{}
	for _, p := range s.Sessions {
		why[strings.TrimSuffix(filepath.Base(p.Path), ".jsonl")] = p.Keep
	}
	return why
}

// Proves: AB-046, AB-049
func TestReasonsToKeepASession(t *testing.T) {
	t.Parallel()
	kit.OnEveryFs(t, func(t *testing.T, fs afero.Fs) {
		_, f := kit.Rooted(fs, 1)
		dir := kit.SessionsRoot + "/--home-zed-p--/"
		talk := kit.Chat("x", "/home/zed/p", "one", "two")
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
			kit.Put(t, fs, dir+name+".jsonl", text)
		}
		kit.Put(t, fs, "/home/zed/.xcsh/agent/terminal-sessions/tty1", "/home/zed/p\n"+dir+"continued.jsonl\n")
		kit.Put(t, fs, kit.SessionsRoot+"/-p/other.jsonl", kit.Chat("y", "/home/zed/q", "one"))
		before := kit.StoreHash(t, fs)
		scope, err := upkeep.ReadPurgeScope(t.Context(), f, "/home/zed/p", false)
		require.NoError(t, err)
		require.Equal(t, map[string]string{
			"plain": "", "only-a-header": "", "continued": upkeep.KeepContinued,
			"auto": "", "user": upkeep.KeepTitled, "unsaid": upkeep.KeepTitled, "blank": "",
			"slot-user": upkeep.KeepTitled, "slot-auto": "", "slot-empty": "",
			"named": upkeep.KeepTitled, "labelled": upkeep.KeepLabelled, "cleared": "",
			"described": upkeep.KeepDescribed, "undescribed": "", "custom": "", "auto-named": upkeep.KeepTitled,
			"torn": upkeep.KeepDamaged, "damaged": upkeep.KeepDamaged, "newer": upkeep.KeepNewer,
			"empty": upkeep.KeepUnreadable, "junk": upkeep.KeepUnreadable,
		}, keeps(scope))
		require.Equal(t, before, kit.StoreHash(t, fs), "looking changes nothing")

		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err = upkeep.ReadPurgeScope(ctx, f, "/home/zed/p", false)
		require.Equal(t, fault.Cancelled, fault.KindOf(err))
		_, err = upkeep.ReadPurgeScope(t.Context(), f, "p", false)
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
	header := kit.Chat("x", "/home/zed/p")
	for name, text := range map[string]string{
		"in-order":     header + at("a", "2026-11-20T11:00:00.000Z") + at("b", "2026-11-20T11:30:00.000Z"),
		"out-of-order": header + at("a", "2026-11-20T11:30:00.000Z") + at("b", "2026-11-20T11:00:00.000Z"),
		"unreadable":   header + at("a", "2026-11-20T11:30:00.000Z") + at("b", "tomorrow"),
		"no-entry":     header,
	} {
		kit.Put(t, fs, kit.SessionsRoot+"/-p/"+name+".jsonl", text)
	}
	scope, err := upkeep.ReadPurgeScope(t.Context(), kit.NewFinder(fs), "/home/zed/p", false)
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
// Proves: AB-079
func TestAFolderOwnsOnlyItsSessions(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	_, f := kit.Rooted(fs, 1)
	shared := kit.SessionsRoot + "/--a-b--/"
	kit.Put(t, fs, shared+"1.jsonl", kit.Chat("1", "/a-b", "x"))
	kit.Put(t, fs, shared+"2.jsonl", kit.Chat("2", "/a/b", "x"))
	kit.Put(t, fs, "/home/zed/.pi/agent/sessions/--a-b--/3.jsonl", kit.Chat("3", "/a/b", "x"))
	kit.Put(t, fs, kit.SessionsRoot+"/--elsewhere--/4.jsonl", strings.Replace(kit.Chat("4", "/elsewhere", "x"), `"cwd"`, `"parentSession":"1","cwd"`, 1))
	for cwd, want := range map[string][]string{"/a-b": {"1"}, "/a/b": {"2", "3"}} {
		scope, err := upkeep.ReadPurgeScope(t.Context(), f, cwd, false)
		require.NoError(t, err)
		var got []string
		for _, s := range scope.Sessions {
			got = append(got, s.ID)
		}
		require.ElementsMatch(t, want, got, cwd)
		require.Equal(t, []string{"1"}, scope.Forks)
	}
	scope, err := upkeep.ReadPurgeScope(t.Context(), f, "", true)
	require.NoError(t, err)
	require.Len(t, scope.Sessions, 4)
	p := upkeep.PlanPurge(scope.Sessions, scope.Forks, 0, kit.Noon)
	require.Empty(t, p.Plan, "each is the newest of its folder or of its program there")
}

// Proves: AB-046
func TestSessionsOpenElsewhereAreProtected(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	f := kit.NewFinder(fs)
	dir := kit.SessionsRoot + "/-p/"
	for _, name := range []string{"open", "written", "crashed", "free"} {
		kit.Put(t, fs, dir+name+".jsonl", kit.Chat(name, "/home/zed/p", "x"))
	}
	kit.Put(t, fs, "/locks/open.lock", fmt.Sprintf(`{"pid":7,"startedAt":"2026-11-20T10:00:00.000Z","host":"elsewhere","path":%q,"app":"xcsh-ls"}`, dir+"open.jsonl"))
	kit.Put(t, fs, dir+".written.jsonl.lock", fmt.Sprintf("%d:1\n", os.Getppid()))
	kit.Put(t, fs, dir+".crashed.jsonl.lock", "2147483646:1\n")
	s := session.NewStore(session.StoreConfig{Fs: fs, DirFor: f.DirFor, RootFor: f.FileRoot, LockDir: "/locks", Random: rand.New(rand.NewSource(1))})
	scope, err := upkeep.ReadPurgeScope(t.Context(), f, "/home/zed/p", false)
	require.NoError(t, err)
	upkeep.MarkLocked(s, scope.Sessions)
	require.Equal(t, map[string]string{"open": upkeep.KeepLocked, "written": upkeep.KeepLocked, "crashed": "", "free": ""}, keeps(scope))
	for _, i := range upkeep.PlanPurge(scope.Sessions, nil, 0, kit.Noon).Protected {
		switch i.ID {
		case "open":
			require.Equal(t, "Another program has it open (pid 7 on elsewhere).", i.Message)
		case "written":
			require.Equal(t, fmt.Sprintf("Another program has it open (pid %d).", os.Getppid()), i.Message)
		}
	}
}

// TestNothingIsDeletedByDefault lists, opens and closes 200 sessions that were not used for
// 400 days, again and again.
// Proves: A-007 (never by itself), AB-041
func TestNothingIsDeletedByDefault(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	old := kit.Noon.AddDate(0, 0, -400)
	for i := range 200 {
		path := fmt.Sprintf("%s/-p/%03d.jsonl", kit.SessionsRoot, i)
		kit.PutSession(t, fs, path, kit.Chat(fmt.Sprint(i), "/home/zed/p", "x"), kit.Noon.Sub(old)+time.Duration(i)*time.Hour)
	}
	before := kit.StoreHash(t, fs)
	for restart := range 10 {
		s, f := kit.Rooted(fs, int64(restart))
		infos, _, err := f.List(t.Context(), "/home/zed/p", library.ListOptions{})
		require.NoError(t, err)
		require.Len(t, infos, 200)
		l, err := s.Open(infos[restart].Path)
		require.NoError(t, err)
		require.NoError(t, l.Close())
		_, err = upkeep.ReadPurgeScope(t.Context(), f, "/home/zed/p", false)
		require.NoError(t, err)
	}
	require.Equal(t, before, kit.StoreHash(t, fs))
}
