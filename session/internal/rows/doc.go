// Package rows keeps facts about files between runs, in one file that is disposable:
//
//	magic with a version
//	blocks: the base, and behind it one for each later addition
//
// A block is complete in itself:
//
//	word (4 bytes), CRC-32C of the rest up to the texts (4), lengths of names and texts in bytes
//	(4 + 4), number of rows (4)
//	names: number of directories; of each its path and its number of rows; number of groups; the groups
//	rows of 64 bytes, sorted by directory and by the hash of the file's name
//	texts
//
// Numbers are little-endian; those of the names are varints, and a text has its length before it.
//
//	row: hash of the name (8), size, mtime, ctime, inode (4 × 8), key (8), place, CRC-32C and length
//	of the text (3 × 4; the highest 12 bits of the length are flags), number of the group (4)
//
// A row is found without looking at the other rows, and a text is read only when it is asked for, so
// that a list of ten thousand files costs little more than reading their directory. A later block
// takes precedence over an earlier one. Blocks are appended without a lock: an incomplete one, or one
// mixed with another program's, is recognized by its checksum, and the next addition writes
// the whole file again under another name and renames it.
//
// The meaning of key, flags, group and text is the caller's.
package rows
