//go:build !linux

package child

import "time"

// processorTime returns 0: the time of another process is unknown on this system.
func processorTime(int) time.Duration { return 0 }

// peakMemory returns 0: the size of another process is unknown on this system.
func peakMemory(int) int64 { return 0 }

func resetPeak(int) {}
