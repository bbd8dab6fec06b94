//go:build !unix

package attack

// serveMCP is for the tests with servers, which need a Unix system.
func serveMCP() {}
