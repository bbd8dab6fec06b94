// Package sessiondoc answers an editor's requests about session files that are shown as text
// documents: symbols, folds, links, lenses and hovers. It also publishes their diagnostics.
//
// A view of a document is made once for each version of its text: on the first request, or when
// the user has stopped typing. Making one never blocks the goroutine that reads the client's
// messages.
package sessiondoc
