//go:build !noteam

package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session/visible"
	"github.com/xcsh-ls/xcsh-ls/team/connect"
	"github.com/xcsh-ls/xcsh-ls/team/pg"
)

// readsAll is what a user must know who sets up a store, or uses one.
const readsAll = "Administrators of the database can read everything in the store."

func teamInitCommand(f *flags) *cobra.Command {
	var partitions int
	var printOnly, upgrade bool
	c := &cobra.Command{
		Use:   "init",
		Short: "Create the team store in a database",
		Long: "Create the schema xcsh in the database of the team store. The user needs the right to create\n" +
			"roles and schemas. With --print, print the SQL for psql instead, and connect to nothing.\n\n" +
			"The number of partitions is fixed from then on: 8 for a team, 64 for a company.\n\n" + readsAll,
		Example: examples(
			"# Set up a store", "XCSH_TEAM_URL=postgres://postgres@db.example/sessions xcsh-ls team init",
			"# Let an administrator do it", "xcsh-ls team init --print > schema.sql",
			"# Bring the schema to the version of this program", "xcsh-ls team init --upgrade",
		),
		Args: takes(0, 0, ""),
		RunE: onTeamStore(f, func(ctx context.Context, cmd *cobra.Command, t teamSource, _ []string) error {
			if partitions < 1 || partitions > pg.MaxPartitions {
				return invalidValue("partitions", partitions, fmt.Sprintf("a number from 1 to %d", pg.MaxPartitions))
			}
			if printOnly {
				cmd.Print("\\set partitions ", partitions, "\n", pg.Schema())
				return nil
			}
			a, c, err := t.find()
			if err != nil {
				return err
			}
			if upgrade {
				return upgradeStore(ctx, cmd, c)
			}
			if err := pg.Init(ctx, c, partitions); err != nil {
				return err
			}
			cmd.Println("The team store is set up. Add its users with: xcsh-ls team grant ROLE --team TEAM")
			cmd.Println(readsAll)
			warnInsecure(cmd, a)
			return nil
		}),
	}
	own := c.Flags()
	own.IntVar(&partitions, "partitions", pg.DefaultPartitions, "split the bytes into `N` tables")
	own.BoolVar(&printOnly, "print", false, "print the SQL instead of running it")
	own.BoolVar(&upgrade, "upgrade", false, "upgrade an existing store")
	exclusive(c, "print", "upgrade")
	exclusive(c, "partitions", "upgrade")
	return c
}

// upgradeStore brings the schema to the version of this program.
func upgradeStore(ctx context.Context, cmd *cobra.Command, c pg.Config) error {
	from, to, err := pg.Upgrade(ctx, c)
	if err != nil {
		return err
	}
	if from == to {
		cmd.Printf("The team store is up to date (version %d).\n", to)
		return nil
	}
	cmd.Printf("The team store was upgraded from version %d to version %d.\n", from, to)
	return nil
}

// warnInsecure prints that a server does not prove who it is.
func warnInsecure(cmd *cobra.Command, a connect.Address) {
	if a.Insecure && a.SSLMode != "verify-full" {
		cmd.PrintErrln("The server does not prove who it is: team.insecure is set.")
	}
}

// grantFlags are the flags of team grant.
type grantFlags struct {
	team, name               string
	read, write, admin, none bool
}

func teamGrantCommand(f *flags) *cobra.Command {
	var g grantFlags
	c := &cobra.Command{
		Use:   "grant ROLE",
		Short: "Set the rights of a user in a team",
		Long: "Let a login role of the database read the sessions of a team, read and write them (the default), or\n" +
			"administer the team as well. The role must exist. Users with the role xcsh_owner, such as\n" +
			"the one who ran init, may do this in every team and create teams; administrators of a team may\n" +
			"do it in theirs. Sessions that other users have pulled stay on their machines.",
		Example: examples(
			"# Let ann read and write the sessions of a team", "xcsh-ls team grant ann --team core",
			"# Remove kim", "xcsh-ls team grant kim --team core --none",
		),
		Args: takes(1, 1, "one ROLE"),
		RunE: onTeamStore(f, func(ctx context.Context, cmd *cobra.Command, t teamSource, args []string) error {
			if g.team == "" {
				return fault.New(fault.InvalidArgument, "No team: pass --team NAME.")
			}
			return t.withStore(ctx, func(ctx context.Context, s *pg.Store) error { return g.grant(ctx, cmd, s, args[0]) })
		}),
	}
	own := c.Flags()
	own.StringVar(&g.team, "team", "", "set the level in team `NAME`, which is created if it is missing")
	own.StringVar(&g.name, "name", "", "show the user to others as `NAME` (default: the role)")
	own.BoolVar(&g.read, "read", false, "the user may read")
	own.BoolVar(&g.write, "write", false, "the user may read and write, which is the default")
	own.BoolVar(&g.admin, "admin", false, "the user may also administer the team")
	own.BoolVar(&g.none, "none", false, "the user leaves the team")
	exclusive(c, "read", "write", "admin", "none")
	return c
}

// level returns the level that the flags name, and its description.
func (g grantFlags) level() (pg.Level, string) {
	switch {
	case g.none:
		return pg.None, "is no member of"
	case g.read:
		return pg.Reader, "can read the sessions of"
	case g.admin:
		return pg.Administers, "administers"
	}
	return pg.Writer, "can read and write the sessions of"
}

// grant makes a role a user and sets the level. An administrator of a team can neither admit roles nor create teams, which may have
// been done before.
func (g grantFlags) grant(ctx context.Context, cmd *cobra.Command, s *pg.Store, role string) error {
	level, text := g.level()
	var notAdmitted error
	if level != pg.None {
		if notAdmitted = s.Admit(ctx, role); notAdmitted != nil && !fault.Is(notAdmitted, fault.Denied) {
			return notAdmitted
		}
		name := g.name
		if name == "" {
			name = role
		}
		if err := s.AddUser(ctx, role, name); err != nil {
			return err
		}
		if err := s.AddTeam(ctx, g.team); err != nil && !fault.Is(err, fault.Denied) {
			return err
		}
	}
	if err := s.Grant(ctx, g.team, role, level); err != nil {
		return err
	}
	cmd.Printf("%s %s the team %s.\n", visible.Line(role), text, visible.Line(g.team))
	if notAdmitted != nil {
		cmd.PrintErrf("You cannot admit roles to the database. If the store rejects the login of %s, ask its administrator for: GRANT xcsh_member TO %s\n",
			visible.Line(role), visible.Line(role))
	}
	return nil
}

func teamDoctorCommand(f *flags) *cobra.Command {
	return &cobra.Command{
		Use:   "doctor",
		Short: "Check the rights and the bytes of the team store",
		Long: "Check the rights in the team store and, as a user with the role xcsh_owner, that every session in\n" +
			"it is complete. Nothing is changed. The exit code is 1 if there are problems.",
		Example: examples("# Check the store", "xcsh-ls team doctor"),
		Args:    takes(0, 0, ""),
		RunE: onTeamStore(f, func(ctx context.Context, cmd *cobra.Command, t teamSource, _ []string) error {
			a, c, err := t.find()
			if err != nil {
				return err
			}
			found, all, err := pg.Doctor(ctx, c)
			if err != nil {
				return err
			}
			for _, p := range found {
				cmd.Printf("%s: %s\n", p.Check, visible.Line(p.Detail))
			}
			if !all {
				cmd.PrintErrln("The sessions were not checked: that requires the role xcsh_owner.")
			}
			warnInsecure(cmd, a)
			if len(found) > 0 {
				return exitCode(exitFailed)
			}
			cmd.Println("No problems found.")
			return nil
		}),
	}
}
