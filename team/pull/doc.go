// Package pull brings sessions of a team's store into files of this machine, and follows sessions that grow there.
//
// A [Puller] writes the body of a session to a hidden file in the directory of the session, compares every segment with its
// checksum, and gives the file its name when it is whole. A pull that was interrupted continues with the hidden file. No file
// is ever replaced. [Puller.Rest] appends to a file that is a beginning of the store's body, and [Puller.Newest] shows the
// end of a large session before it is pulled. [Following] passes on bytes as they arrive in the store.
//
// The store and its other users are not trusted: names, checksums, lengths and headers are checked. The
// bytes of a body are kept as they are.
package pull
