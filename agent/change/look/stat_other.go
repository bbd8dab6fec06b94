//go:build !unix

package look

import (
	"fmt"
	"io/fs"
)

// statOf returns the size of a file.
func statOf(info fs.FileInfo) string { return fmt.Sprint(info.Size()) }
