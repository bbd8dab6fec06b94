//go:build !linux && !darwin

package dirlist

import "github.com/spf13/afero"

// staterOf returns slow: these systems have no faster way.
func staterOf(_ afero.Fs, _ afero.File, _ int, slow stater) stater { return slow }
