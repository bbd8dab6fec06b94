//go:build unix && !linux

package look

import "syscall"

func changeTime(s *syscall.Stat_t) int64 { return s.Ctimespec.Nano() }
