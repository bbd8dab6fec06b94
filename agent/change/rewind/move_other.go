//go:build !linux

package rewind

import (
	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/internal/durable"
)

// exchange is not supported: the caller checks, then renames.
func exchange(afero.Fs, string, string) (done bool, err error) { return false, nil }

// moveNew renames a file. The caller has just checked that the new path does not exist.
func moveNew(fsys afero.Fs, from, to string) error { return durable.Rename(fsys, from, to) }
