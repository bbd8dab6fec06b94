// Package compaction decides how a conversation is shortened: how large it is, where it is
// cut, what a model is asked to summarise it, and what is kept of the answer. It is pure:
// it asks nobody and writes nothing. Numbers and rules are pi's.
package compaction
