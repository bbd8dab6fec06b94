//go:build !unix

package pdftext

import "runtime/debug"

// limitResources lets the collector keep the memory small, as far as possible. There is no hard limit here.
func limitResources() error {
	debug.SetMemoryLimit(1 << 30)
	return nil
}
