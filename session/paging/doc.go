// Package paging reads a session in parts: pages of its messages, entries and tree, and a search in its conversation. A page costs
// what it shows, and the pages of one cursor are parts of one answer, whatever is appended between them.
package paging
