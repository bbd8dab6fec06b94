//go:build !linux

package child

import "time"

// processorTime returns 0: the time of another process is unknown on this system.
func processorTime(int) time.Duration { return 0 }

// memory returns 0: the size of another process is unknown on this system.
func memory(int, string) int64 { return 0 }

func resetPeak(int) {}
