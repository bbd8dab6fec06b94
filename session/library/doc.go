// Package library finds sessions on disk. A [Finder] knows the directories of all programs and
// lists, searches and resolves the sessions in them. It changes no session.
package library
