// Package importer copies conversations of agent-base, and session files from anywhere, into the
// sessions directory. The originals are not changed.
package importer
