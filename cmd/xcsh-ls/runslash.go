package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/xcsh-ls/xcsh-ls/commands"
)

// slash returns the text that may be a slash command: one that the user has typed as the whole prompt.
func (p promptArgs) slash() string {
	if p.typed != p.words || p.stdin || len(p.files) > 0 {
		return ""
	}
	return p.typed
}

// answerSlash runs a slash command and prints its answer, with --json as an object with command and answer.
func answerSlash(ctx context.Context, env *commands.Env, to io.Writer, s commands.Slash, args string, asJSON bool) error {
	answer, err := s.Run(ctx, env, env.Folders()[0], args)
	switch {
	case err != nil:
		return err
	case asJSON:
		return json.NewEncoder(to).Encode(map[string]string{"command": s.Name, "answer": answer})
	}
	_, err = fmt.Fprintln(to, answer)
	return err
}
