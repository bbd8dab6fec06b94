//go:build !unix

package find

import "io/fs"

// writers implements [Machine.Writers]. The access lists of this system are not read.
func writers(fs.FileInfo) string { return "" }
