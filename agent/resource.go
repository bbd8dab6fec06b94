package agent

import (
	"context"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/session/artifact"
)

// resource returns the path of a file that is kept beside the session that log is, or that is part of its set-up,
// for the address by which the programs' models know it. Only the plan file can be written.
func (h *host) resource(ctx context.Context, name, address string, write bool) (path string, err error) {
	fsys, rest := h.s.m.cfg.Store.Fs, address[strings.Index(address, "://")+len("://"):]
	artifacts := artifact.Dir{Fs: fsys, Session: h.log.Path()}
	switch scheme := tool.Scheme(address); {
	case scheme == tool.ArtifactScheme && !write:
		path, err = artifacts.Path(rest)
	case scheme == tool.AgentScheme && !write:
		path, err = artifacts.Output(rest)
	case scheme == tool.LocalScheme:
		if write {
			if plan, err := h.plan(); err != nil || !plan.on() || !plan.allows(h.s.cwd, address) {
				return "", tool.Unavailable(name, address)
			}
		}
		path, err = artifacts.Local(rest)
	case scheme == tool.SkillScheme && !write:
		return h.s.m.setups().SkillFile(h.found(ctx), rest)
	case scheme == tool.RuleScheme && !write:
		return h.found(ctx).RuleFile(rest)
	default:
		return "", tool.Unavailable(name, address)
	}
	if err == nil && !write {
		_, err = fsys.Stat(path)
	}
	if err != nil {
		return "", tool.Unavailable(name, address)
	}
	return path, nil
}
