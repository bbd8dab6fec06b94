package lsp_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/internal/lsptest"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
	"github.com/xcsh-ls/xcsh-ls/lsp"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/library"
)

// openFs counts how often a session was opened.
type openFs struct {
	afero.Fs
	opened atomic.Int32
}

const roomSession = "/w/2026-01-01T00-00-00-000Z_0123456789abcdef.jsonl"

func (fs *openFs) Open(name string) (afero.File, error) {
	if name == roomSession {
		fs.opened.Add(1)
	}
	return fs.Fs.Open(name)
}

// Of many requests for a whole session, few are worked on before the client has read their answers. The others
// wait, can be cancelled, and are answered.
func TestAnswersAsLargeAsASessionWaitForRoom(t *testing.T) {
	t.Parallel()
	for _, command := range []string{"xcsh.entries", "xcsh.tree", "xcsh.context", "xcsh.dump"} {
		synctest.Test(t, func(t *testing.T) {
			fs := &openFs{Fs: afero.NewMemMapFs()}
			require.NoError(t, afero.WriteFile(fs, roomSession, []byte(st.File(st.Header("0123456789abcdef", "/w"), st.User("aaaaaaaa", "", "hello"))), 0o600))
			f := newFixture(t)
			f.options.Commands = commands.Default
			f.options.Open = func(context.Context, lsp.Settings, lsp.Client) (lsp.Backend, error) {
				finder := library.Finder{Fs: fs, Home: "/home/u", Temp: "/tmp"}
				store := session.NewStore(session.StoreConfig{Fs: fs})
				return lsp.Backend{
					Fs: fs, Store: store, Finder: finder, Live: f.live,
					Sessions: agent.NewManager(agent.Config{Storage: agent.Storage{Store: store, Finder: finder}}),
				}, nil
			}
			ed := f.start(t)
			ed.Pause()
			var asked []*lsptest.Pending
			for range 50 {
				asked = append(asked, ed.BeginExec(command, lsptest.Fields{"cwd": "/w", "source": roomSession}))
			}
			synctest.Wait()
			require.Less(t, int(fs.opened.Load()), 10, command) // an answer may be read before the pause
			require.Positive(t, fs.opened.Load())
			asked[49].Cancel()
			synctest.Wait()
			ed.Resume()
			for i, p := range asked {
				_, err := p.Wait()
				if i == 49 {
					require.Equal(t, "cancelled", err.Kind())
					continue
				}
				require.Nil(t, err, fmt.Sprint(i))
			}
			require.GreaterOrEqual(t, int(fs.opened.Load()), 49)
		})
	}
}
