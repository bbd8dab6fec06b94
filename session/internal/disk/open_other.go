//go:build !unix

package disk

import (
	"io"

	"github.com/spf13/afero"
)

// Open opens a regular file to be read from its beginning to its end.
func Open(fsys afero.Fs, path string) (io.ReadSeekCloser, error) { return fsys.Open(path) }
