// Package tool has the tools of a model: read, write, edit, bash, grep, find, ls and process.
//
// Parameters are those of pi, and the forms of oh-my-pi are understood. Output is cut to [MaxLines]
// or [MaxBytes], whichever comes first, with a note on the cut part and how to get it.
package tool
