//go:build noteam

package main

import (
	"github.com/spf13/cobra"
	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/lsp"
)

// openTeam opens nothing: this program was built without the store of a team.
func openTeam(place, lsp.Settings, func() []string, *zap.Logger) teamParts { return teamParts{} }

// teamCommands returns no command.
func teamCommands(*flags) []*cobra.Command { return nil }
