// Package catalog lists the sessions of the team's store as the user of this machine sees them.
//
// [Catalog.List] never waits long for the network: without an answer it returns the sessions that were last seen, from memory or from a
// file, and notifies the caller when the answer differs. After a list, the catalog polls the store for changes for some minutes.
//
// All that the store returns was written by its users. It is bounded, and control characters in it are escaped, before it is kept.
package catalog
