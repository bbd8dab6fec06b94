package session

import "github.com/xcsh-ls/xcsh-ls/session/lock"

// Owners returns the session files that are open for writing, and their owners, as far as
// the servers record them. It changes nothing on disk.
func (s *Store) Owners() map[string]lock.Owner { return s.Locks.Owners(s.LockDir) }
