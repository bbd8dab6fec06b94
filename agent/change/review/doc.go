// Package review works out which changes of a session the user has not reviewed yet.
//
// The base text of a path is its present text without the pending changes, as undone by package plan. Pending hunks are the differences
// from the base text to the present text, so the user's own edits are in both and don't show. A review only stores a pair of states
// for each path, from which the pending changes start.
//
// The package writes nothing: [Keep] returns the pairs, and [Undo] a plan.
package review
