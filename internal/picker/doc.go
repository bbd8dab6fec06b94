// Package picker lets the user of a terminal choose one of many rows: with the arrow keys, and by typing
// words that the row must contain. It takes the whole screen and gives it back.
//
// Rows are hostile text. Nothing in them reaches the terminal unescaped, and none is wider than the screen.
package picker
