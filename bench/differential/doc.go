// Package differential runs pi itself beside this module's session engine, lets both
// do the same at random, and requires that they say the same about every file: its
// entries and tree, the context a model is shown at any leaf, its name, its row in a
// list. Each writes what the other reads, both write to one file in turn, files are
// damaged, forked and migrated.
//
// The tests need pi and a Node.js of at least 22.19; they are built with the tag peers
// only:
//
//	bench/peers/install.sh pi
//	go test -tags peers ./bench/differential
//
// XCSH_PI names the directory of another pi, XCSH_PI_NODE another Node.js. What is
// done is the same every time; with XCSH_SOAK set it is new, and more. A test that
// fails says its seed and what was done.
package differential
