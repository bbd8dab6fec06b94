// Package compaction decides how a conversation is shortened: how large it is, where it is cut,
// which question a model gets to summarise it, and which part of the answer is kept. It is pure: it
// calls no model and writes nothing. Numbers and rules are pi's.
package compaction
