// Package disk has the file operations that the session packages share: publishing a new file
// completely or not at all, syncing, comparing file states, and turning I/O errors into messages.
package disk
