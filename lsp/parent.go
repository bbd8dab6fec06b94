package lsp

import (
	"time"

	"go.uber.org/zap"
)

// watchParent ends the server when the process pid, the processId of initialize, has ended. The protocol
// requires this, because an editor that is killed does not always close the server's input. A pid
// that is not positive means that there is no such process.
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
