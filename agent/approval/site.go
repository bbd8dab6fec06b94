package approval

import (
	"slices"

	"github.com/xcsh-ls/xcsh-ls/agent/sandbox"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// site decides about reading from a web site. The address may carry data away, so every site needs approval; one in a private
// network has answers that outsiders cannot get, so it needs a rule of its own.
func (p policy) site(r Request) (level sandbox.Level, allowed bool, err error) {
	switch p.mode {
	case ReadOnly:
		return level, false, fault.New(fault.Denied, "The approval mode is read-only: web pages are not read, because an address can carry data away.")
	case Yolo:
		return level, true, nil
	}
	return level, slices.ContainsFunc(p.rules, func(rule Rule) bool {
		return rule.valid() && rule.Site == r.Site && (rule.Private || !r.Private)
	}), nil
}
