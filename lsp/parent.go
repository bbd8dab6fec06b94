package lsp

import (
	"time"

	"go.uber.org/zap"
)

// watchParent ends the server when the process pid is gone, as the protocol wants
// it of the processId of initialize. Editors that are killed do not always close
// our input. A pid that is not positive means that there is no such process.
func (s *server) watchParent(pid int) {
	if pid <= 0 {
		return
	}
	go func() {
		t := time.NewTicker(s.opts.ParentPoll)
		defer t.Stop()
		for {
			select {
			case <-t.C:
			case <-s.stopped:
				return
			}
			if !s.opts.Alive(pid) {
				s.log.Info("the client's process is gone", zap.Int("pid", pid))
				s.parentOnce.Do(func() { close(s.parentGone) })
				return
			}
		}
	}()
}
