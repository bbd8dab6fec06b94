// Package pgtest runs PostgreSQL for tests: the one that is installed on this machine, in a temporary
// directory, as a user without privileges.
//
// [Main] is the TestMain of a package. Its tests share one cluster, which starts with the first call of
// [New], and each gets a database of its own. A test that kills the server takes [Start].
package pgtest
