package commands

import (
	"context"

	"github.com/xcsh-ls/xcsh-ls/agent/setup"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session"
)

var setupOf = New(Spec{
	Name: "xcsh.setup", Title: "Show Set-up", Flags: ReadOnly,
	Doc: "List the set-up of a folder: MCP servers, skills, templates, instructions, rules and settings, each with its file, and what is left out " +
		"and why. Nothing is started, and values of variables and headers are never returned.",
}, runSetup)

// SetupArgs name a folder and the program whose set-up it is.
type SetupArgs struct {
	Folder
	Program string `json:"program,omitempty" jsonschema:"xcsh, pi or omp. Default: the program that wrote the folder's live session, or else the one of new sessions."`
}

// SetupResult is the set-up that holds.
type SetupResult struct {
	setup.Resolved
}

func runSetup(ctx context.Context, env *Env, a SetupArgs) (r SetupResult, err error) {
	cwd, err := env.cwd(ctx, a.Folder)
	if err != nil {
		return r, err
	}
	q := setup.Query{Cwd: cwd, Restricted: env.restricted()}
	if a.Program != "" {
		program, known := session.ParseDialect(a.Program)
		if !known {
			return r, fault.New(fault.InvalidArgument, "%q is not a program; the programs are xcsh, pi and omp.", a.Program).With("field", "program")
		}
		q.Program = program
	} else if live := env.Sessions.Live(cwd); live != nil {
		q.Program = live.Dialect()
	}
	found, err := env.Sessions.Setup(ctx, q)
	if err != nil {
		return r, err
	}
	return SetupResult{*found}, ctx.Err()
}
