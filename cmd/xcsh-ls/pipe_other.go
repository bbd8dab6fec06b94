//go:build !unix

package main

// ignoreBrokenPipe does nothing on systems without that signal.
func ignoreBrokenPipe() {}
