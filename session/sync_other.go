//go:build !linux

package session

import "github.com/spf13/afero"

// syncData makes what was written to f durable.
func syncData(f afero.File) error { return f.Sync() }
