// Package present reads the present state of paths, from an open document of the editor or from disk.
//
// The text of an open document with unsaved changes takes precedence over the disk. A link at a path is never followed, and links among
// its directories are reported. Paths come from session files and are not trusted: only regular files are read, up to a limit.
package present
