package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/engine"
	"github.com/xcsh-ls/xcsh-ls/agent/setup"
	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/visible"
)

// slash returns the text that may be a slash command: one that the user has typed as the whole prompt.
func (p promptArgs) slash() string {
	if p.typed != p.words || p.stdin || len(p.files) > 0 {
		return ""
	}
	return p.typed
}

// expands reports whether the prompt may begin with the name of a skill or template. Files and standard input are
// added to its text.
func (p promptArgs) expands() bool { return !p.stdin && p.typed == p.words && p.words != "" }

// useSetup lets the set-up of the directory be used in this run, as --trust says. Without it, a set-up that the user
// has not decided about is left out, with a note on standard error.
func useSetup(ctx context.Context, cmd *cobra.Command, env *commands.Env, live *agent.Session, trust string) error {
	found := live.Found(ctx)
	switch {
	case trust == "" && found.Trust.Undecided() && live.Engine().Name == engine.Own:
		cmd.PrintErrln(visible.Line(found.Trust.Question) + " It is not used. To use it in this run, pass --trust all.")
	case trust != "":
		state, err := commands.TrustDecision(trust)
		if err != nil || state == setup.Untrusted {
			return usageError(cmd, errors.New("--trust must be all or without-servers"))
		}
		env.Sessions.GrantSetup(found, state)
	}
	return nil
}

// answerSlash runs a slash command and prints its answer, with --json as an object with command and answer. A note on standard
// error says that the session is not saved if the command has changed one without messages.
func answerSlash(ctx context.Context, cmd *cobra.Command, env *commands.Env, live *agent.Session, to io.Writer, s commands.Slash, args string, asJSON bool) error {
	before := lengthOf(live)
	answer, err := s.Run(ctx, env, env.Folders()[0], args)
	if err != nil {
		return modelAdvice(err)
	}
	if asJSON {
		err = json.NewEncoder(to).Encode(map[string]string{"command": s.Name, "answer": answer})
	} else {
		_, err = fmt.Fprintln(to, answer)
	}
	if lengthOf(live) > before && live.Persistent() && !live.OnDisk() {
		cmd.PrintErrln("A session without messages is not saved. To change the last session, pass --continue.")
	}
	return err
}

// lengthOf returns the number of a session's entries.
func lengthOf(live *agent.Session) (entries int) {
	_ = live.View(func(d *session.Document, _ session.Leaf) error { // fails only if the function does
		entries = d.Len()
		return nil
	})
	return entries
}
