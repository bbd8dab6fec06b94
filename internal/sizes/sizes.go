// Package sizes lets tests of any package treat small session files as large ones, so that index files
// are used for them. No setting and no environment variable of the program changes a size.
package sizes

// Variables are the variables of package session that tests may change while no session is open.
type Variables struct {
	SmallFile *int64  // bytes up to which a file's content is kept in memory
	IndexFrom *int64  // bytes above which a session has an index file
	PageBits  *uint   // logarithm of the number of slots of a page
	SpineFrom *int    // entries from which on a spine is made
	IndexDir  *string // index directory of a store whose configuration has none; "" for none
}

// Session holds the variables of package session, which sets it at start.
var Session Variables
