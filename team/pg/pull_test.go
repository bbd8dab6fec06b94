package pg_test

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/library"
	"github.com/xcsh-ls/xcsh-ls/team"
	"github.com/xcsh-ls/xcsh-ls/team/pg/pgtest"
	pulling "github.com/xcsh-ls/xcsh-ls/team/pull"
	"github.com/xcsh-ls/xcsh-ls/team/teamtest"
)

// TestASessionIsPulledAndFollowed: over a real server and its notifications, the bytes that one user sends are those that another one
// pulls and follows.
func TestASessionIsPulledAndFollowed(t *testing.T) {
	t.Parallel()
	d := pgtest.New(t)
	w := newWorld(t, d, d.Port())
	ann, kim := login(t, w, "ann"), login(t, w, "kim")
	project, err := ann.Project(t.Context(), "core", "name:web", "web")
	require.NoError(t, err)
	o := team.Opening{
		Project: project.ID, SID: team.NewSID(), HeaderID: "0123456789abcdef", FileName: "s.jsonl", Visible: team.Shared,
		Head: []byte(st.Header("0123456789abcdef", ".") + "\n"),
	}
	_, err = ann.Open(t.Context(), o)
	require.NoError(t, err)
	var body []byte
	send := func(b []byte) {
		t.Helper()
		tip, err := ann.Tip(t.Context(), o.SID)
		require.NoError(t, err)
		body = append(body, b...)
		tip, err = ann.Append(t.Context(), team.Append{
			SID: o.SID, Gen: tip.Gen, Len: tip.Len, Sum: tip.Sum, Fence: tip.Fence, Bytes: b, New: team.SumOf(body),
		})
		require.NoError(t, err)
		require.Equal(t, team.OK, tip.Code)
		ann.Tell(t.Context(), o.SID, tip.Len)
	}
	for range 40 {
		send([]byte(st.User("aaaaaaaa", "", strings.Repeat("word ", 9000)) + "\n"))
	}
	fsys := afero.NewMemMapFs()
	p := newPuller(fsys, kim)
	path, err := p.Pull(t.Context(), o.SID, "/work/web", nil)
	require.NoError(t, err)
	content, err := afero.ReadFile(fsys, path)
	require.NoError(t, err)
	require.Equal(t, st.Header("0123456789abcdef", "/work/web")+"\n"+string(body), string(content))

	ctx, stop := context.WithTimeout(t.Context(), waitTime)
	defer stop()
	var got []byte
	line := []byte(st.User("bbbbbbbb", "", "more") + "\n")
	whole := len(body) + 3*len(line)
	sent := make(chan struct{}, 3)
	for range 3 {
		sent <- struct{}{}
	}
	err = pulling.NewFollowing(p, false).Follow(ctx, o.SID, func(b []byte) {
		got = append(got, b...)
		if len(got) == len(body) {
			select {
			case <-sent:
				send(line)
			default:
				stop()
			}
		}
	})
	requireKind(t, fault.Cancelled, err)
	require.Len(t, got, whole)
	require.True(t, bytes.Equal(body, got))
}

// newPuller returns a puller of a machine.
func newPuller(fsys afero.Fs, store team.Store) *pulling.Puller {
	finder := library.Finder{Fs: fsys, Home: "/home/kim", Roots: []library.Root{library.OwnRoot(library.AgentPlaces("/agent"))}, Now: time.Now}
	return pulling.New(pulling.Config{Store: store, Library: finder, Sessions: session.NewStore(session.StoreConfig{Fs: fsys, DirFor: finder.DirFor})})
}

// login returns the store as a member of the team core sees it.
func login(t *testing.T, w *world, user string) teamtest.Login {
	t.Helper()
	w.Member(t, user, "core", 2)
	s := w.Connect(t, user)
	_, err := s.Hello(t.Context(), team.Device{ID: team.NewDeviceID(), Label: user})
	require.NoError(t, err)
	return s
}
