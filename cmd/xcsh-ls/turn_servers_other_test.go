//go:build !unix

package main

// serveMCP is for the tests with servers, which need a Unix system.
func serveMCP() {}
