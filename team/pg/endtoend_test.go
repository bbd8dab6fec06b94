package pg_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/library"
	"github.com/xcsh-ls/xcsh-ls/team"
	"github.com/xcsh-ls/xcsh-ls/team/catalog"
	"github.com/xcsh-ls/xcsh-ls/team/consent"
	"github.com/xcsh-ls/xcsh-ls/team/identity"
	"github.com/xcsh-ls/xcsh-ls/team/pg/pgtest"
	"github.com/xcsh-ls/xcsh-ls/team/publish"
	pulling "github.com/xcsh-ls/xcsh-ls/team/pull"
	"github.com/xcsh-ls/xcsh-ls/team/shipping"
	"github.com/xcsh-ls/xcsh-ls/team/teamtest"
)

// systemClock is the clock of the system.
type systemClock struct{}

func (systemClock) Now() time.Time                         { return time.Now() }
func (systemClock) After(d time.Duration) <-chan time.Time { return time.After(d) }

// TestEveryFixtureIsSentListedAndPulled: over a real server, the body that is pulled is the body that was sent, byte for byte, and the
// list shows the session.
func TestEveryFixtureIsSentListedAndPulled(t *testing.T) {
	t.Parallel()
	d := pgtest.New(t)
	w := newWorld(t, d, d.Port())
	ann, kim := login(t, w, "ann"), login(t, w, "kim")
	paths, err := filepath.Glob("../../testdata/sessions/*/*.jsonl")
	require.NoError(t, err)
	sent := 0
	for i, path := range paths {
		content, err := os.ReadFile(path)
		require.NoError(t, err)
		head, err := shipping.ReadHead(bytes.NewReader(content))
		if err != nil || head.Header().Cwd == "" {
			continue // has no project
		}
		whole := content[head.Len() : bytes.LastIndexByte(content, '\n')+1]
		if len(whole) == 0 {
			continue
		}
		sent++
		key := fmt.Sprintf("name:fixture %d", i)
		sid := sendFile(t, ann, key, filepath.Base(path), content)
		require.True(t, bytes.Equal(whole, bodyOf(t, kim, sid)), path)
		listed := listProject(t, kim, key)
		require.Len(t, listed, 1, path)
		require.Equal(t, sid.String(), listed[0].Team.SID)
		require.Equal(t, head.Header().ID, listed[0].ID)
		require.EqualValues(t, len(whole), listed[0].Size)
		var digest shipping.Digest
		digest.Add(shipping.Rules{}, whole, "")
		require.Equal(t, digest.Messages, listed[0].MessageCount, path)
		pulled := pullFile(t, kim, sid)
		if head.Header().Version >= session.CurrentVersion { // older ones are converted
			require.True(t, bytes.Equal(whole, pulled), path)
		}
	}
	require.Greater(t, sent, 50)
}

// sendFile sends a session file of a new machine, and returns its session.
func sendFile(t *testing.T, store team.Store, key, name string, content []byte) team.SID {
	t.Helper()
	fsys := afero.NewMemMapFs()
	path := "/s/" + name
	require.NoError(t, afero.WriteFile(fsys, path, content, 0o600))
	p := publish.New(publish.Config{
		Store: func() (team.Store, int, error) { return store, 0, nil },
		Fs:    fsys, States: shipping.States{Fs: fsys, Dir: "/agent/state"}, Clock: systemClock{},
		Consent: func() (consent.Decisions, error) {
			return consent.Decisions{Projects: map[string]consent.Project{key: {Team: "core", Share: consent.All, Visible: consent.Team}}}, nil
		},
		Project: func(string, consent.Decisions) (identity.Project, error) { return identity.Project{Key: key}, nil },
	})
	p.Touched(path)
	ctx, stop := context.WithTimeout(t.Context(), waitTime)
	defer stop()
	require.Zero(t, p.Flush(ctx), name)
	s := p.State(path)
	require.Equal(t, publish.Sent, s.Phase, name)
	tip, err := store.Tip(t.Context(), s.SID)
	require.NoError(t, err)
	require.NoError(t, store.Release(t.Context(), s.SID, tip.Fence)) // a pull converts an old format
	return s.SID
}

// pullFile pulls a session to a new machine, and returns the body of its file.
func pullFile(t *testing.T, store team.Store, sid team.SID) []byte {
	t.Helper()
	fsys := afero.NewMemMapFs()
	finder := library.Finder{Fs: fsys, Home: "/home/kim", Roots: []library.Root{library.OwnRoot(library.AgentPlaces("/agent"))}, Now: time.Now}
	p := pulling.New(pulling.Config{Store: store, Library: finder, Sessions: session.NewStore(session.StoreConfig{Fs: fsys, DirFor: finder.DirFor})})
	path, err := p.Pull(t.Context(), sid, "/work/web", nil)
	require.NoError(t, err)
	content, err := afero.ReadFile(fsys, path)
	require.NoError(t, err)
	head, err := shipping.ReadHead(bytes.NewReader(content))
	require.NoError(t, err)
	return content[head.Len():]
}

// bodyOf reads a body from the store.
func bodyOf(t *testing.T, store teamtest.Login, sid team.SID) (body []byte) {
	t.Helper()
	tip, err := store.Tip(t.Context(), sid)
	require.NoError(t, err)
	require.NoError(t, store.Read(t.Context(), sid, tip.Gen, 0, 1<<30, func(s team.Segment) error {
		body = append(body, s.Bytes...)
		return nil
	}))
	return body
}

// listProject lists a project on a machine without files.
func listProject(t *testing.T, store team.Store, key string) []library.Info {
	t.Helper()
	c := catalog.New(catalog.Config{
		Connected: func(context.Context) (team.Store, team.Hello, error) {
			return store, team.Hello{StoreID: team.NewUUID()}, nil
		},
		Key: func(string) string { return key }, Fs: afero.NewMemMapFs(), Dir: "/agent", Clock: patientClock{},
	})
	defer c.Close()
	var listed []library.Info
	for range 2 { // by pages, and by changes
		var problems []session.Problem
		var err error
		listed, problems, err = c.List(t.Context(), "/work", "", nil)
		require.NoError(t, err)
		require.Empty(t, problems)
	}
	return listed
}

// patientClock is the clock of the system without timers: a list waits for the server.
type patientClock struct{ systemClock }

func (patientClock) After(time.Duration) <-chan time.Time { return nil }
