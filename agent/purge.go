package agent

import (
	"context"
	"path/filepath"

	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/fault"
)

// Purged says where a session of a plan is now, or why it is still where it was.
type Purged struct {
	session.PurgeItem
	Trashed string // what [Manager.Untrash] takes; "" after an error
	Err     error
}

// Purge moves the sessions of a plan to the trash, one after the other. One that changed
// since it was planned, that is live in any folder by now, or that cannot be moved, stays
// and costs no other one anything; so do those that are left when ctx ends.
func (m *Manager) Purge(ctx context.Context, plan []session.PurgeItem) []Purged {
	done := make([]Purged, len(plan))
	folders := map[string]bool{}
	for i, item := range plan {
		done[i].PurgeItem = item
		if err := ctx.Err(); err != nil {
			done[i].Err = &fault.Error{Kind: fault.Cancelled, Message: "The purge was cancelled before " + item.Path + ".", Err: err}
			continue
		}
		belongs := m.belongsTo(item.Path)
		if done[i].Trashed, done[i].Err = m.purgeOne(item); done[i].Err == nil {
			folders[belongs] = true
		}
	}
	for cwd := range folders {
		m.sessionsChanged(cwd)
	}
	return done
}

func (m *Manager) purgeOne(item session.PurgeItem) (trashed string, err error) {
	// No folder is called "", so that a session that is live in any is refused.
	_, release, err := m.take("", item.Path)
	if err != nil {
		return "", err
	}
	defer release()
	info, err := m.cfg.Store.Fs.Stat(item.Path)
	if err == nil && (info.Size() != item.Size || !info.ModTime().Equal(item.ModTime)) {
		return "", fault.New(fault.Stale, "%s changed since the plan was made; it stays.", item.Path).With("path", item.Path)
	}
	return m.cfg.Store.Trash(filepath.Clean(item.Path)) // words what a missing file is
}
