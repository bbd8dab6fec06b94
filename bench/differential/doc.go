// Package differential runs pi itself beside this module's session engine, lets both do the same at
// random, and requires that they return the same about every file: its entries and tree, the
// context of a model at any leaf, its name, its row in a list. Each reads the files of the other,
// both write to one file in turn, files are damaged, forked and migrated. Both keep one session open and
// continue it on branches: pi's code, and the whole programs pi and omp in their RPC mode beside a live
// session of ours.
//
// The tests need pi and a Node.js of at least 22.19. Those with omp and Claude Code are skipped if it is not installed, unless
// XCSH_REQUIRE_PEERS is set. They are built with the tag peers only:
//
//	bench/peers/install.sh engines
//	go test -tags peers ./bench/differential
//
// XCSH_PI names the directory of another pi, XCSH_PI_NODE another Node.js. The operations are the
// same in every run; with XCSH_SOAK set they are new, and more. A test that fails prints its seed
// and its operations.
package differential
