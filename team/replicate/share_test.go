package replicate_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
	"github.com/xcsh-ls/xcsh-ls/team"
	"github.com/xcsh-ls/xcsh-ls/team/consent"
	"github.com/xcsh-ls/xcsh-ls/team/replicate"
	"github.com/xcsh-ls/xcsh-ls/team/teamtest"
)

// loginOnly has no methods but those of a login: any other call panics.
type loginOnly struct {
	team.Store // nil
	login      *teamtest.Store
	hellos     int
}

func (l *loginOnly) Hello(ctx context.Context, d team.Device) (team.Hello, error) {
	l.hellos++
	return l.login.Hello(ctx, d)
}

func (l *loginOnly) Teams(ctx context.Context) ([]team.Membership, error) { return l.login.Teams(ctx) }
func (l *loginOnly) Close() error                                         { return nil }

// TestNothingButTheLoginIsSentBeforeTheYes makes plans and turns.
func TestNothingButTheLoginIsSentBeforeTheYes(t *testing.T) {
	inWorld(t, func(w *world) {
		m := w.machine("ann")
		login := &loginOnly{login: w.server.Connect("ann")}
		m.store = login
		path := m.put(session1, user(1))
		m.start()
		before := m.snapshot()
		for _, s := range []replicate.Sharing{{Scope: "new"}, {Scope: "all"}, {Scope: "session", Path: path}, {Scope: "all", Visible: "me"}} {
			s.Cwd = cwd
			plan, err := m.r.Plan(context.Background(), s)
			require.NoError(t, err)
			require.NotEmpty(t, plan.Token)
			err = m.r.Share(context.Background(), s, "another")
			requireKind(t, fault.Stale, err)
			requireKind(t, fault.Stale, m.r.Share(context.Background(), s, ""))
		}
		require.Positive(t, login.hellos)
		m.turn(session1, user(2))
		m.r.Touched(path)
		w.pass(time.Minute)
		require.Zero(t, m.r.Flush(context.Background()))
		require.Equal(t, "off", m.r.Status().State)
		m.close()
		after := m.snapshot()
		delete(after, dir+"/device") // its id is part of the login
		before[path] += user(2)
		require.Equal(t, before, after)
	})
}

// TestWithoutAConsentNothingIsOpened nor started, and no file changes.
func TestWithoutAConsentNothingIsOpened(t *testing.T) {
	inWorld(t, func(w *world) {
		m := w.machine("ann")
		m.open = fault.New(fault.Internal, "opened")
		path := m.put(session1, user(1))
		before := m.snapshot()
		m.start()
		end, err := m.r.Begin(context.Background(), path)
		require.NoError(t, err)
		end()
		m.r.Touched(path)
		m.r.TurnEnded(path)
		require.Zero(t, m.r.Flush(context.Background()))
		require.Equal(t, replicate.Status{State: "off"}, m.r.Status())
		m.close()
		require.Equal(t, before, m.snapshot())
		require.Empty(t, m.events)
	})
}

// TestTheFirstPush has the words of the question, and sends what was agreed.
func TestTheFirstPush(t *testing.T) {
	inWorld(t, func(w *world) {
		m := w.machine("ann")
		secret := strings.Join([]string{"ghp", "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"}, "_")
		m.old(session1, user(1)+st.User("e2", "e1", "use "+secret)+"\n")
		m.start()
		s := replicate.Sharing{Cwd: cwd, Scope: "new"}
		plan, err := m.r.Plan(context.Background(), s)
		require.NoError(t, err)
		require.Equal(t, `Send this project's conversations to the team's store?
To db.example.com/sessions as ann (TLS verified). core can read them: 2 people. Its administrators, too.
From now on: new conversations. 1 older one (1 kB) stays here unless you say so.
Sent is all that a conversation holds: prompts, answers, what tools read and printed. In what is here now 1 thing that looks like a secret would be replaced (1 github); what does not look like one is sent.`, plan.Text)
		require.Equal(t, "db.example.com/sessions", plan.Server)
		require.Equal(t, "verified", plan.TLS)
		require.Equal(t, key, plan.Project)
		require.Equal(t, 2, plan.Readers)
		require.Equal(t, 1, plan.Older)
		require.Zero(t, plan.Sessions)
		require.Equal(t, map[string]int{"github": 1}, plan.Redacted)
		require.Len(t, plan.Examples, 1)
		require.Contains(t, plan.Examples[0], "line 2")
		require.NotContains(t, fmt.Sprint(plan), secret)
		require.NoError(t, m.r.Share(context.Background(), s, plan.Token))
		require.Equal(t, "ann, ann's laptop", m.decisions().Projects[key].Agreed)

		m.put(session2, user(1))
		m.turn(session2, user(2))
		require.Equal(t, map[string]string{session2 + ".0": user(1) + user(2)}, w.bodies("kim"))
		require.Equal(t, "ok", m.r.Status().State)
		require.Zero(t, m.r.Status().UnsentSessions)
		m.share(replicate.Sharing{Scope: "all"})
		w.pass(11 * time.Second)
		require.Len(t, w.bodies("kim"), 2)
		require.NotContains(t, fmt.Sprint(w.bodies("kim")), secret)
		m.close()
		require.True(t, m.line.closed)
	})
}

// TestAPlanBecomesStale if anything changed that the user agreed to.
func TestAPlanBecomesStale(t *testing.T) {
	for name, change := range map[string]func(w *world, m *machine, s *replicate.Sharing){
		"readers":  func(w *world, _ *machine, _ *replicate.Sharing) { w.server.Member("eve", "core", 1) },
		"visible":  func(_ *world, _ *machine, s *replicate.Sharing) { s.Visible = "me" },
		"scope":    func(_ *world, _ *machine, s *replicate.Sharing) { s.Scope = "new" },
		"a line":   func(_ *world, m *machine, _ *replicate.Sharing) { m.add(session1, user(2)) },
		"a file":   func(_ *world, m *machine, _ *replicate.Sharing) { m.put(session2, user(2)) },
		"decision": func(_ *world, m *machine, _ *replicate.Sharing) { m.share(replicate.Sharing{Scope: "new"}) },
		"server":   func(_ *world, m *machine, _ *replicate.Sharing) { m.host = "evil.example.com"; m.kill() },
		"store":    func(w *world, m *machine, _ *replicate.Sharing) { w.anotherServer(); m.kill() },
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				m := w.machine("ann")
				m.put(session1, user(1))
				s := replicate.Sharing{Cwd: cwd, Scope: "all"}
				plan, err := m.r.Plan(context.Background(), s)
				require.NoError(t, err)
				change(w, m, &s)
				requireKind(t, fault.Stale, m.r.Share(context.Background(), s, plan.Token))
				m.close()
				require.Empty(t, w.bodies("ann"))
			})
		})
	}
}

// anotherServer replaces the store behind the address.
func (w *world) anotherServer() {
	w.server = teamtest.NewServer()
	w.server.Member("ann", "core", 3)
	w.server.Member("kim", "core", 2)
}

// TestScopes sends single sessions, takes them out, and pauses a project.
func TestScopes(t *testing.T) {
	inWorld(t, func(w *world) {
		m := w.machine("ann")
		one := m.put(session1, user(1))
		two := m.old(session2, user(1))
		m.start()
		m.share(replicate.Sharing{Scope: "session", Path: one, Visible: "me"})
		w.pass(11 * time.Second)
		require.Len(t, w.bodies("ann"), 1)
		require.Empty(t, w.bodies("kim"))
		require.Equal(t, consent.Off, m.decisions().Projects[key].Share)

		m.share(replicate.Sharing{Scope: "all"})
		w.pass(11 * time.Second)
		require.Len(t, w.bodies("ann"), 2)
		require.Contains(t, w.bodies("kim"), session2+".0")

		require.NoError(t, m.r.Share(context.Background(), replicate.Sharing{Scope: "off", Path: two}, ""))
		m.turn(session2, user(2))
		require.Equal(t, user(1), w.bodies("ann")[session2+".0"])
		m.turn(session1, user(2))
		require.Equal(t, user(1)+user(2), w.bodies("ann")[session1+".0"])

		require.NoError(t, m.r.Share(context.Background(), replicate.Sharing{Scope: "off", Cwd: cwd}, ""))
		require.NoError(t, m.r.Share(context.Background(), replicate.Sharing{Scope: "off", Path: one}, ""))
		require.Equal(t, "off", m.r.Status().State, "paused")
		m.turn(session1, user(3))
		w.pass(time.Minute)
		require.Equal(t, user(1)+user(2), w.bodies("ann")[session1+".0"])
		m.close()
	})
}

// TestPausingNeedsNoStore nor does it say anything to it.
func TestPausingNeedsNoStore(t *testing.T) {
	inWorld(t, func(w *world) {
		m := w.machine("ann")
		m.start()
		m.share(replicate.Sharing{Scope: "new"})
		m.kill()
		m.line.down = true
		require.NoError(t, m.r.Share(context.Background(), replicate.Sharing{Scope: "off", Cwd: cwd}, ""))
		require.Empty(t, m.line.taken())
		require.Equal(t, consent.Off, m.decisions().Projects[key].Share)
		m.close()
	})
}

// TestMistakes have their errors.
func TestMistakes(t *testing.T) {
	inWorld(t, func(w *world) {
		m := w.machine("ann")
		w.server.Member("eve", "core", 1)
		for _, c := range []struct {
			kind fault.Kind
			s    replicate.Sharing
		}{
			{fault.InvalidArgument, replicate.Sharing{Cwd: cwd, Scope: "everything"}},
			{fault.InvalidArgument, replicate.Sharing{Cwd: cwd, Scope: "new", Visible: "world"}},
			{fault.InvalidArgument, replicate.Sharing{Cwd: cwd, Scope: "session"}},
			{fault.InvalidArgument, replicate.Sharing{Scope: "session", Path: "/none.jsonl"}},
			{fault.NotFound, replicate.Sharing{Cwd: cwd, Scope: "new", Team: "other"}},
			{fault.ArgumentNeeded, replicate.Sharing{Cwd: "/elsewhere", Scope: "new"}},
			{fault.InvalidArgument, replicate.Sharing{Cwd: "/elsewhere", Scope: "new", Name: "../x"}},
		} {
			_, err := m.r.Plan(context.Background(), c.s)
			requireKind(t, c.kind, err)
		}
		w.server.Member("ann", "other", 2)
		_, err := m.r.Plan(context.Background(), replicate.Sharing{Cwd: cwd, Scope: "new"})
		require.Equal(t, []string{"core", "other"}, requireKind(t, fault.ArgumentNeeded, err).Data["choices"])
		m.close()
		reader := w.machine("eve")
		_, err = reader.r.Plan(context.Background(), replicate.Sharing{Cwd: cwd, Scope: "new"})
		requireKind(t, fault.Denied, err)
		reader.close()
	})
}

// TestAProjectWithoutARemoteNeedsAName which counts for all of its folders.
func TestAProjectWithoutARemoteNeedsAName(t *testing.T) {
	inWorld(t, func(w *world) {
		m := w.machine("ann")
		require.NoError(t, m.fs.RemoveAll(cwd+"/.git"))
		m.put(session1, user(1))
		m.start()
		s := replicate.Sharing{Cwd: cwd, Scope: "all"}
		_, err := m.r.Plan(context.Background(), s)
		require.Equal(t, "web", requireKind(t, fault.ArgumentNeeded, err).Data["offer"])
		s.Name = "shop"
		plan, err := m.r.Plan(context.Background(), s)
		require.NoError(t, err)
		require.Equal(t, 1, plan.Sessions)
		require.NoError(t, m.r.Share(context.Background(), s, plan.Token))
		w.pass(11 * time.Second)
		require.Equal(t, "shop", m.decisions().Names[cwd])
		require.Contains(t, m.decisions().Projects, "name:shop")
		require.Len(t, w.bodies("kim"), 1)
		m.close()
	})
}

// TestAnotherStoreReceivesNothing until the user agrees, and then only that project.
// Proves: TM-17
func TestAnotherStoreReceivesNothing(t *testing.T) {
	inWorld(t, func(w *world) {
		m := w.machine("ann")
		path := m.put(session1, user(1))
		m.start()
		m.share(replicate.Sharing{Scope: "all"})
		require.NoError(t, consent.File{Fs: m.fs, Dir: dir, Locks: m.locks}.Change(
			consent.SetProject("name:other", consent.Project{Team: "core", Share: consent.All, Visible: consent.Team, Redact: true})))
		m.turn(session1, user(2))
		require.Len(t, w.bodies("kim"), 1)
		m.close()

		w.anotherServer()
		m.begin()
		m.start()
		m.add(session1, user(3))
		end, err := m.r.Begin(context.Background(), path)
		require.NoError(t, err)
		end()
		w.pass(time.Minute)
		require.Empty(t, w.bodies("ann"))
		for _, call := range m.line.taken() {
			require.Equal(t, "Hello", call)
		}
		require.Equal(t, "refused", m.r.Status().State)
		require.Contains(t, m.r.Status().Problem.Error(), "another one")

		plan, err := m.r.Plan(context.Background(), replicate.Sharing{Cwd: cwd, Scope: "all"})
		require.NoError(t, err)
		require.Contains(t, plan.Text, "another store")
		require.NoError(t, m.r.Share(context.Background(), replicate.Sharing{Cwd: cwd, Scope: "all"}, plan.Token))
		w.pass(11 * time.Second)
		require.Equal(t, map[string]string{session1 + ".0": user(1) + user(2) + user(3)}, w.bodies("kim"))
		require.Equal(t, consent.Off, m.decisions().Projects["name:other"].Share)
		require.Equal(t, "ok", m.r.Status().State)
		m.close()
	})
}

// TestANewEpochComparesAllFilesAgain although none of them changed.
// Proves: TM-41
func TestANewEpochComparesAllFilesAgain(t *testing.T) {
	inWorld(t, func(w *world) {
		m := w.machine("ann")
		m.put(session1, user(1))
		m.put(session2, user(1))
		m.start()
		m.share(replicate.Sharing{Scope: "all"})
		w.pass(11 * time.Second)
		m.close()
		m.begin()
		m.start()
		w.pass(11 * time.Second)
		require.NotContains(t, m.line.taken(), "Open", "nothing to send")
		m.line.set(func(l *line) { l.hello = func(h *team.Hello) { h.Epoch = 2 } })
		w.pass(2 * time.Minute)
		require.NotContains(t, m.line.taken(), "Open", "nothing asks an idle store")
		m.add(session1, user(2))
		w.pass(30 * time.Second)
		synctest.Wait()
		require.Contains(t, m.line.taken(), "Open", "the other file; this one was compared by the append")
		require.Equal(t, 2, m.decisions().Epoch)
		require.Equal(t, user(1)+user(2), w.bodies("kim")[session1+".0"])
		m.close()
	})
}

// TestAPulledSessionIsSentAsANewOne in a project that the user shares from now on, and not in another one.
func TestAPulledSessionIsSentAsANewOne(t *testing.T) {
	inWorld(t, func(w *world) {
		m := w.machine("ann")
		m.old(session1, user(1))
		m.share(replicate.Sharing{Scope: "all"})
		m.start()
		w.pass(12 * time.Second)
		sid := m.sid()
		m.close()

		k := w.machine("ann").start()
		k.old(session2, user(1))
		path, _, err := k.r.Pull(context.Background(), sid, cwd, nil)
		require.NoError(t, err)
		require.Equal(t, k.path(session1), path)
		require.Equal(t, map[string]consent.Share{session1: consent.New}, k.decisions().Sessions)
		k.turn(session1, user(2))
		w.pass(12 * time.Second)
		require.Equal(t, user(1), w.bodies("kim")[session1+".0"], "there is no consent on this machine")

		k.share(replicate.Sharing{Scope: "new"})
		k.turn(session1, user(3))
		w.pass(12 * time.Second)
		require.Equal(t, map[string]string{session1 + ".0": user(1) + user(2) + user(3)}, w.bodies("kim"))

		require.NoError(t, k.r.Share(context.Background(), replicate.Sharing{Scope: "off", Cwd: cwd}, ""))
		k.turn(session1, user(4))
		w.pass(12 * time.Second)
		require.Equal(t, user(1)+user(2)+user(3), w.bodies("kim")[session1+".0"])
		k.close()
	})
}

// TestTheYesOfAContainer counts for the host of the address only.
func TestTheYesOfAContainer(t *testing.T) {
	for value, shared := range map[string]bool{
		"new:db.example.com": true, "new:DB.example.com": true, "new:other.example.com": false, "new": false, "new:": false, "all:db.example.com": false, "": false,
	} {
		t.Run(value, func(t *testing.T) {
			inWorld(t, func(w *world) {
				m := w.machine("ann")
				m.env["XCSH_TEAM_SHARE"] = value
				m.old(session1, user(1))
				m.start()
				w.pass(time.Second)
				m.put(session2, user(1))
				m.turn(session2, user(2))
				w.pass(11 * time.Second)
				if shared {
					require.Equal(t, map[string]string{session2 + ".0": user(1) + user(2)}, w.bodies("kim"))
				} else {
					require.Empty(t, m.line.taken())
					require.Empty(t, m.decisions().Projects)
				}
				require.NoError(t, m.r.Share(context.Background(), replicate.Sharing{Scope: "off", Cwd: cwd}, ""))
				m.close()
				m.begin()
				m.start()
				w.pass(time.Second)
				if shared {
					require.Equal(t, consent.Off, m.decisions().Projects[key].Share, "the user's own decision stays")
				}
				m.close()
			})
		})
	}
}

// TestTheTeamOfAContainer is needed by a user of several.
func TestTheTeamOfAContainer(t *testing.T) {
	for name, shared := range map[string]bool{"": false, "core": true, "other": false} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				w.server.Member("ann", "design", 2)
				m := w.machine("ann")
				m.env["XCSH_TEAM_SHARE"], m.env["XCSH_TEAM"] = "new:db.example.com", name
				m.start()
				w.pass(time.Second)
				require.Equal(t, shared, m.decisions().Shares())
				if shared {
					require.Equal(t, name, m.decisions().Projects[key].Team)
				}
				m.close()
			})
		})
	}
}

// TestTheHomeDirectoryIsNotListed in the store.
func TestTheHomeDirectoryIsNotListed(t *testing.T) {
	inWorld(t, func(w *world) {
		m := w.machine("ann")
		m.put(session1, st.User("e00001", "", "read /home/ann/notes.md")+"\n")
		m.start()
		m.share(replicate.Sharing{Scope: "all"})
		w.pass(45 * time.Second)
		infos, err := w.server.Connect("kim").List(context.Background(), team.ListQuery{Project: 1, Limit: 10})
		require.NoError(t, err)
		require.Len(t, infos, 1)
		require.Equal(t, "read ~/notes.md", infos[0].FirstPrompt)
		m.close()
	})
}
