//go:build man

package main

import (
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

// extraCommands adds a command that writes manual pages, in programs that are built for a release to run it. Others lack it and the
// libraries that it needs.
func extraCommands(root *cobra.Command) {
	root.AddCommand(&cobra.Command{
		Use: "man DIR", Hidden: true, Short: "Generate the manual pages", Args: takes(1, 1, "DIR"),
		RunE: func(_ *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o750); err != nil {
				return err
			}
			root.DisableAutoGenTag = true // it has a date
			return doc.GenManTree(root, &doc.GenManHeader{Section: "1", Source: "xcsh-ls", Manual: "User Commands", Date: releaseDay()}, args[0])
		},
	})
}

// releaseDay is the date of the pages: that of the release, so that two builds of it are alike.
func releaseDay() *time.Time {
	at, err := time.Parse("2006-01-02", strings.TrimSpace(os.Getenv("XCSH_MAN_DATE")))
	if err != nil {
		at = time.Unix(0, 0).UTC()
	}
	return &at
}
