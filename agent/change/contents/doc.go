// Package contents stores the contents of changed files beside their session, by hash.
//
// A content is the file ab/abcdef… in the session's directory "changes", named by its SHA-256 and compressed with DEFLATE. It is
// written to a temporary file and renamed, so concurrent writers don't conflict, and its hash is verified on every read. Contents are
// only removed together with their session.
//
// Names from a session file are not trusted: a name that is not a hash has no content, links are not followed, and reads are bounded.
//
// Contents are not synced, like the lines of the session. Nothing is lost if the process dies. After a power failure, a missing or
// damaged content makes its record read-only.
package contents
