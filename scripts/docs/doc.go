// Package docs has no code. Its tests check that the Markdown documents of the repository
// name existing files, headings, commands, settings and targets of make and npm.
package docs
