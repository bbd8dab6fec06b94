package agent

import (
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/artifact"
)

// keeper keeps long outputs as artifacts of the session that log is. The file of the session
// may come later: the terminal programs make the directory first, too.
func (s *Session) keeper(log *session.Log) tool.Keep {
	return func(name string) (tool.KeptFile, error) {
		f, err := artifact.Dir{Fs: s.m.cfg.Store.Fs, Session: log.Path()}.Create(name)
		if err != nil {
			return tool.KeptFile{}, err
		}
		return tool.KeptFile{File: f, Path: f.Path, ArtifactID: f.ID}, nil
	}
}
