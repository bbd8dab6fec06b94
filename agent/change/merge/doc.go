// Package merge compares texts by lines and merges them three-way.
//
// Lines include their ends: a changed line end is a change of the line. [Diff] is Myers' algorithm with a bound on its cost, so that no
// input takes quadratic time: beyond the bound it finds fewer equal lines. [Merge] refuses ambiguous merges.
//
// The package is pure and safe for concurrent use.
package merge
