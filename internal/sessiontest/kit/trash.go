package kit

import (
	"math/rand"
	"time"

	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/library"
)

// Paths below the root that [Rooted] and [NewFinder] use.
const (
	ZedAgent  = "/home/zed/.xcsh/agent"
	ZedTrash  = ZedAgent + "/trash"
	MovedFrom = SessionsRoot + "/--home-zed-p--/2026-01-01T00-00-00-000Z_0123456789abcdef.jsonl"
)

// Rooted is a store over the roots of a user called zed, who uses pi too.
func Rooted(fs afero.Fs, seed int64) (*session.Store, library.Finder) {
	f := NewFinder(fs)
	f.Roots = append(f.Roots, library.Root{Places: library.AgentPlaces("/home/zed/.pi/agent"), Dialect: session.Pi})
	now := func() time.Time { return Noon }
	return session.NewStore(session.StoreConfig{
		Fs: fs, Now: now, Random: rand.New(rand.NewSource(seed)), DirFor: f.DirFor, RootFor: f.FileRoot,
	}), f
}
