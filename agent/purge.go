package agent

import (
	"context"
	"path/filepath"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session/upkeep"
)

// Purged is the result of a purge for one session: its place in the trash, or the error.
type Purged struct {
	upkeep.PurgeItem
	Trashed string // the argument for [Manager.Untrash]; "" after an error
	Err     error
}

// Purge moves the sessions of a plan to the trash, one after the other. A session that changed
// since it was planned, that is now live in any folder, or that cannot be moved, stays and does not
// affect the others; the remaining ones stay when ctx ends.
func (m *Manager) Purge(ctx context.Context, plan []upkeep.PurgeItem) []Purged {
	done := make([]Purged, len(plan))
	folders := map[string]bool{}
	for i, item := range plan {
		done[i].PurgeItem = item
		if err := ctx.Err(); err != nil {
			done[i].Err = &fault.Error{Kind: fault.Cancelled, Message: "The purge was cancelled before " + item.Path + ".", Err: err}
			continue
		}
		belongs := m.belongsTo(item.Path)
		if done[i].Trashed, done[i].Err = m.purgeOne(ctx, item); done[i].Err == nil {
			folders[belongs] = true
		}
	}
	for cwd := range folders {
		m.sessionsChanged(cwd)
	}
	return done
}

func (m *Manager) purgeOne(ctx context.Context, item upkeep.PurgeItem) (trashed string, err error) {
	// No folder is called "", so that a session that is live in any is refused.
	_, release, err := m.take("", item.Path)
	if err != nil {
		return "", err
	}
	defer release()
	info, err := m.cfg.Store.Fs.Stat(item.Path)
	if err == nil && (info.Size() != item.Size || !info.ModTime().Equal(item.ModTime)) {
		return "", fault.New(fault.Stale, "%s changed since the plan was made and was not removed.", item.Path).With("path", item.Path)
	}
	m.leavingForTrash(ctx, item.Path)
	return upkeep.Trash(m.cfg.Store, filepath.Clean(item.Path)) // returns the error for a missing file
}
