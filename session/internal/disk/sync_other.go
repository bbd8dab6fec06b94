//go:build !linux

package disk

import "github.com/spf13/afero"

// SyncData makes the data written to f durable.
func SyncData(f afero.File) error { return f.Sync() }
