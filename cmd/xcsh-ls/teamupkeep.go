//go:build !noteam

package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/team"
	"github.com/xcsh-ls/xcsh-ls/team/pg"
)

func teamPurgeCommand(f *flags) *cobra.Command {
	var now, yes bool
	c := &cobra.Command{
		Use:   "purge",
		Short: "Delete the trash of the team store for good",
		Long: "Destroy your sessions that have been in the trash of the team store for 30 days, and in teams that\n" +
			"you administer those of all members, also those that are older than their project keeps them.\n" +
			"With --now, destroy everything in the trash. Backups of the database keep what they have.",
		Example: examples(
			"# Do it every night", "xcsh-ls team purge",
			"# Empty the trash", "xcsh-ls team purge --now --yes",
		),
		Args: takes(0, 0, ""),
		RunE: onTeamStore(f, func(ctx context.Context, cmd *cobra.Command, t teamSource, _ []string) error {
			if now && !yes {
				return fault.New(fault.InvalidArgument, "Sessions in the trash can't be restored after this: pass --yes to destroy them.")
			}
			return t.withStore(ctx, func(ctx context.Context, s *pg.Store) error {
				projects, err := s.Writable(ctx)
				total := 0
				for _, project := range projects {
					n := 0
					if n, err = s.Purge(ctx, project, now); err != nil {
						break
					}
					total += n
				}
				cmd.Printf("%s destroyed.\n", plural(total, "session", "sessions"))
				return err
			})
		}),
	}
	c.Flags().BoolVar(&now, "now", false, "do not wait for 30 days")
	c.Flags().BoolVar(&yes, "yes", false, "with --now, destroy them")
	return c
}

func teamMaintainCommand(f *flags) *cobra.Command {
	return &cobra.Command{
		Use:   "maintain",
		Short: "Run the upkeep of the team store",
		Long: "Join the small pieces of the sessions in the team store that you may write, which makes the store\n" +
			"smaller and pulls faster. Run it every night, as a user who writes in all teams. Sessions that\n" +
			"are being written are skipped.",
		Example: examples("# Do it every night", "xcsh-ls team maintain"),
		Args:    takes(0, 0, ""),
		RunE: onTeamStore(f, func(ctx context.Context, cmd *cobra.Command, t teamSource, _ []string) error {
			return t.withStore(ctx, func(ctx context.Context, s *pg.Store) error {
				sessions, pieces, err := compactAll(ctx, s)
				cmd.Printf("%s compacted into %s.\n", plural(sessions, "session", "sessions"), plural(pieces, "piece", "pieces"))
				return err
			})
		}),
	}
}

// compactPage is how many sessions are listed at once.
const compactPage = 500

// compactAll joins the small segments of all sessions that the user may write. It returns the number of sessions that changed, and of
// their new segments.
func compactAll(ctx context.Context, s *pg.Store) (sessions, segments int, err error) {
	projects, err := s.Writable(ctx)
	if err != nil {
		return 0, 0, err
	}
	for _, project := range projects {
		q := team.ListQuery{Project: project, Limit: compactPage}
		for {
			page, err := s.List(ctx, q)
			if err != nil {
				return sessions, segments, err
			}
			for _, i := range page {
				n, err := s.Compact(ctx, i.SID)
				if err != nil {
					return sessions, segments, err
				}
				segments += n
				sessions += min(n, 1)
			}
			if len(page) < compactPage {
				break
			}
			q.Before, q.BeforeSID = page[len(page)-1].Modified, page[len(page)-1].SID
		}
	}
	return sessions, segments, nil
}
