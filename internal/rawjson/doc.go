// Package rawjson reads and edits JSON text without decoding it. A session line's
// bytes are the truth: going through Go values would sort keys, turn 20-digit
// integers into floats and lose lone surrogates, so this package finds, compares
// and splices byte ranges instead.
//
// [Scan] judges whether bytes are JSON, and so does [Stream], for values that are not in memory. Everything else
// takes a value that they called [Complete] and may return nonsense, but never
// panics, for anything else. All functions are pure and safe for concurrent use.
//
// The grammar is RFC 8259 with the freedoms JavaScript's JSON.parse has: invalid
// UTF-8 and lone surrogate escapes are accepted, of duplicate keys the last one
// wins, and nesting is unlimited.
package rawjson
