// Package indexfile keeps what was learned from large session files in the cache directory: disposable files
// of facts and blocks. Every part has a checksum, so that a file that was cut off, overwritten or written by
// another version is not used. The package does not know what facts and blocks mean, except that facts begin with
// the path of the session, after which the file is named.
//
//	"xcsh-ls index 2\n"     16 bytes; the number is that of the whole format, that of the facts included
//	length, CRC-32C         4 bytes each, little-endian, of the head
//	head                    number of sections; of each: size, block size, CRC-32C of each block; the facts
//	sections                one behind the other
//
// Numbers of the head are varints, see [Encoder].
package indexfile
