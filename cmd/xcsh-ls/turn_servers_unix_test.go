//go:build unix

package main

import "github.com/xcsh-ls/xcsh-ls/internal/mcptest"

// serveMCP makes the process a server of the Model Context Protocol, if it was started as one.
func serveMCP() { mcptest.Main() }
