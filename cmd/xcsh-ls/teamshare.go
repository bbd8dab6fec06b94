//go:build !noteam

package main

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session/visible"
)

// teamVariable names the team of a user who is in several.
const teamVariable = "XCSH_TEAM"

// shareFlags are the flags of team share.
type shareFlags struct {
	all, off, yes, asJSON, private bool
	session, plan, team, project   string
}

func teamShareCommand(f *flags) *cobra.Command {
	var s shareFlags
	c := &cobra.Command{
		Use:   "share",
		Short: "Share the sessions of the current directory's project",
		Long: "Print the sessions that would be sent to the team store and the people who could read them, and\n" +
			"ask for your consent. It holds for the project of the current directory, for new sessions by\n" +
			"default, and until you end it with --off. Sent sessions stay in the store: see xcsh-ls team delete.\n\n" +
			"In a script, run it once to print the plan and its TOKEN, and again with --yes --plan TOKEN.",
		Example: examples(
			"# Share new sessions of this project", "xcsh-ls team share",
			"# Share the existing ones, too", "xcsh-ls team share --all",
			"# Keep one session on this machine", "xcsh-ls team share --off --session 0190",
		),
		Args: takes(0, 0, ""),
		RunE: inTeam(f, func(ctx context.Context, cmd *cobra.Command, env *commands.Env, t *teamLink, _ []string) error {
			return s.share(ctx, cmd, env, t)
		}),
	}
	own := c.Flags()
	own.BoolVar(&s.all, "all", false, "also send the sessions that exist already")
	own.BoolVar(&s.off, "off", false, "send nothing more")
	own.StringVar(&s.session, "session", "", "only decide about session `ID`")
	own.BoolVar(&s.private, "private", false, "let only yourself read them, on your other machines")
	own.StringVar(&s.team, "team", os.Getenv(teamVariable), "share with team `NAME`, if you are in several")
	own.StringVar(&s.project, "project", "", "call the project `NAME`, if its repository has no remote")
	own.BoolVar(&s.yes, "yes", false, "agree to the plan of --plan")
	own.StringVar(&s.plan, "plan", "", "carry out the plan with this `TOKEN`")
	own.BoolVar(&s.asJSON, "json", false, "print the plan as JSON")
	own.Lookup("team").DefValue = "" // the help is the same everywhere
	exclusive(c, "all", "off")
	exclusive(c, "all", "session")
	exclusive(c, "json", "yes")
	return c
}

// sharing returns the decision that the flags name.
func (s shareFlags) sharing(ctx context.Context, env *commands.Env) (commands.TeamSharing, error) {
	r := commands.TeamSharing{Cwd: env.Folders()[0], Scope: "new", Team: s.team, Name: s.project}
	if s.private {
		r.Visible = "me"
	}
	switch {
	case s.off:
		r.Scope = "off"
	case s.all:
		r.Scope = "all"
	case s.session != "":
		r.Scope = "session"
	}
	if s.session != "" {
		path, err := sessionFile(ctx, env, s.session)
		if err != nil {
			return r, err
		}
		r.Path = path
	}
	return r, nil
}

func (s shareFlags) share(ctx context.Context, cmd *cobra.Command, env *commands.Env, t *teamLink) error {
	if s.yes != (s.plan != "") {
		return fault.New(fault.InvalidArgument, "Pass --yes and --plan TOKEN together. Without them, the plan and its token are printed.")
	}
	sharing, err := s.sharing(ctx, env)
	if err != nil {
		return err
	}
	if s.yes {
		return s.carryOut(ctx, cmd, t, sharing, s.plan)
	}
	if s.off {
		return s.carryOut(ctx, cmd, t, sharing, "")
	}
	plan, err := t.Plan(ctx, sharing)
	if err != nil {
		return err
	}
	if s.asJSON {
		return printJSON(cmd.OutOrStdout(), plan)
	}
	printTeamPlan(cmd, plan)
	if !isTerminal(os.Stdin) {
		cmd.Printf("Nothing was changed. To agree, add: --yes --plan %s\n", visible.Line(plan.Token))
		return nil
	}
	if !agrees(cmd) {
		cmd.Println("Nothing was changed.")
		return exitCode(exitFailed)
	}
	return s.carryOut(ctx, cmd, t, sharing, plan.Token)
}

// carryOut records the decision, and sends what it is about.
func (s shareFlags) carryOut(ctx context.Context, cmd *cobra.Command, t *teamLink, sharing commands.TeamSharing, token string) error {
	if err := t.Share(ctx, sharing, token); err != nil {
		return err
	}
	if sharing.Scope == "off" {
		cmd.Println("Nothing more is sent. Sent sessions stay in the team store; to delete one: xcsh-ls team delete ID")
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, pushTime)
	defer cancel()
	return t.push(ctx, cmd, nil)
}

// printTeamPlan prints what would be sent, and to whom.
func printTeamPlan(cmd *cobra.Command, p commands.TeamPlan) {
	cmd.Println(visible.Text(p.Text))
	cmd.Printf("Project: %s. Team: %s.\n", visible.Line(p.Project), visible.Line(p.Team))
	if len(p.Redacted) > 0 {
		var kinds []string
		for _, kind := range slices.SortedFunc(maps.Keys(p.Redacted), func(a, b string) int { return cmp.Compare(p.Redacted[b], p.Redacted[a]) }) {
			kinds = append(kinds, fmt.Sprintf("%d %s", p.Redacted[kind], visible.Line(kind)))
		}
		cmd.Println("Replaced: " + strings.Join(kinds, ", "))
	}
	for _, example := range p.Examples {
		cmd.Println("  " + visible.Line(example))
	}
}

// agrees asks the user at the terminal.
func agrees(cmd *cobra.Command) bool {
	cmd.PrintErr("Agree? [y/N] ")
	line, _ := bufio.NewReader(cmd.InOrStdin()).ReadString('\n') // the end of the input is no consent
	answer := strings.ToLower(strings.TrimSpace(line))
	return answer == "y" || answer == "yes"
}

func teamStatusCommand(f *flags) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "status",
		Short: "Print the state of the team store and of unsent sessions",
		Long: "Connect to the team store and print where it is, as whom you are logged in, whether the server\n" +
			"proves who it is, and how many sessions are not sent yet. The exit code is 1 if the store can't be\n" +
			"reached or rejects you.",
		Example: examples("# Print it for a script", "xcsh-ls team status --json"),
		Args:    takes(0, 0, ""),
		RunE: inTeam(f, func(ctx context.Context, cmd *cobra.Command, _ *commands.Env, t *teamLink, _ []string) error {
			status := t.connected(ctx)
			if asJSON {
				if err := printJSON(cmd.OutOrStdout(), status); err != nil {
					return err
				}
			} else {
				printTeamStatus(cmd, status)
			}
			if status.Problem != "" {
				return exitCode(exitFailed)
			}
			return nil
		}),
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print the result as JSON")
	return c
}

// tlsTexts describe how a connection is protected.
var tlsTexts = map[string]string{
	"verified": "TLS, and the server proves who it is", "socket": "a socket of this machine", "local": "this machine",
	"insecure": "the server does not prove who it is: team.insecure is set",
}

func printTeamStatus(cmd *cobra.Command, s commands.TeamStatus) {
	for _, row := range [][2]string{
		{"state", s.State},
		{"server", s.Server},
		{"user", s.User},
		{"connection", cmp.Or(tlsTexts[s.TLS], s.TLS)},
		{"unsent", fmt.Sprintf("%s, %s", plural(s.UnsentSessions, "session", "sessions"), sizeText(s.UnsentBytes))},
		{"since", s.Since},
	} {
		if row[1] != "" {
			cmd.Printf("%s: %s\n", row[0], visible.Line(row[1]))
		}
	}
	if s.Problem != "" {
		cmd.PrintErrln(visible.Line(s.Problem))
	}
}
