package plan

import (
	"slices"

	"github.com/xcsh-ls/xcsh-ls/agent/change"
	"github.com/xcsh-ls/xcsh-ls/agent/change/wire"
)

// LimitUnreadable is the limit of records that can't be read: they are of a newer version, or their content is missing.
const LimitUnreadable = "unreadable"

var limitTexts = map[string]string{
	change.LimitIgnored:   "A command ran. Its changes in ignored directories are not recorded.",
	change.LimitOutside:   "A command ran. Its changes outside of the folder are not recorded.",
	change.LimitLarge:     "A command changed too many files, or files that are too large. Their contents were not stored. Use git to restore them.",
	change.LimitBudget:    "The contents of some changed files were not stored.",
	change.LimitSubmodule: "Changes in a nested repository are not recorded.",
	change.LimitNoGit:     "The folder has no git repository, so changes of commands may be missing.",
	change.LimitPatch:     "Another program made these changes without records. They are read from the results of its edits; changes of its commands are missing.",
	LimitUnreadable:       "Some records can't be read: they are of a newer version, or their content is missing. They are not undone.",
}

// Limits returns the limits of records, by kind, in a fixed order. The result is not nil.
func Limits(records []*change.Record) []wire.Limit {
	limits := []wire.Limit{}
	for _, kind := range []string{
		change.LimitIgnored, change.LimitOutside, change.LimitLarge, change.LimitBudget, change.LimitSubmodule, change.LimitNoGit, change.LimitPatch,
		LimitUnreadable,
	} {
		l := wire.Limit{Kind: kind, Records: []string{}, Text: limitTexts[kind]}
		for _, r := range records {
			if kind == LimitUnreadable && r.Unreadable || !r.Unreadable && slices.Contains(r.Limits, kind) {
				l.Records = append(l.Records, r.ID)
			}
		}
		if len(l.Records) > 0 {
			limits = append(limits, l)
		}
	}
	return limits
}
