//go:build !linux && !darwin

package history

import "strings"

// network reports whether dir is on another machine, judging by its name.
func network(dir string) bool { return strings.HasPrefix(dir, `\\`) || strings.HasPrefix(dir, "//") }
