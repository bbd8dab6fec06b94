//go:build !unix

package tool

import "os"

func exitCode(s *os.ProcessState) int { return s.ExitCode() }
