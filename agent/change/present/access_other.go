//go:build !unix

package present

import (
	"io/fs"

	"github.com/spf13/afero"
)

// writable reports whether files can be created in a directory. Here this is unknown until it is tried.
func writable(afero.Fs, string, fs.FileInfo) bool { return true }

// identity is equal for two names of one directory entry, "" if unknown.
func identity(fs.FileInfo) string { return "" }
