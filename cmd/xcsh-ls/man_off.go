//go:build !man

package main

import "github.com/spf13/cobra"

// extraCommands adds nothing; see man.go.
func extraCommands(*cobra.Command) {}
