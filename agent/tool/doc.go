// Package tool has what a model can do: read, write, edit, bash, grep, find and ls.
//
// Parameters are those of pi, and the forms of oh-my-pi are understood. Output is cut to
// [MaxLines] or [MaxBytes], whichever comes first, and says what was cut and how to go on.
package tool
