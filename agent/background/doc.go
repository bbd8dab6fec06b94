// Package background keeps the commands of a session that continue after the tool call that started
// them: their output, how they ended, and what the model knows about them. It starts no
// processes itself.
package background
