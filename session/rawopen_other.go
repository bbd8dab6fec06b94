//go:build !unix

package session

import (
	"io"

	"github.com/spf13/afero"
)

// openRaw opens a regular file to be read from its beginning to its end.
func openRaw(fsys afero.Fs, path string) (io.ReadSeekCloser, error) { return fsys.Open(path) }
