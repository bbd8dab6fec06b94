//go:build !linux && !darwin

package history

import "strings"

// network reports whether dir is on another machine, as far as its name tells.
func network(dir string) bool { return strings.HasPrefix(dir, `\\`) || strings.HasPrefix(dir, "//") }
