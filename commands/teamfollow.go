package commands

import (
	"context"
	"time"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

var teamFollow = New(Spec{
	Name: "xcsh.team.follow", Title: "Follow Session of Team", Flags: Palette | ReadOnly, Arg: "source",
	Doc: "Show a session of the team store as a read-only document that grows with the conversation.",
}, runTeamFollow)

// FollowUI is a [UI] whose client supports virtual documents.
type FollowUI interface {
	// ShowFollowed shows the document of [Follows] with this address. It reports whether the client did so.
	ShowFollowed(ctx context.Context, uri string) bool
}

// TeamFollowArgs are the arguments of xcsh.team.follow.
type TeamFollowArgs struct {
	Subject
	Stop bool `json:"stop,omitempty" jsonschema:"End it. The document stays as it is."`
}

// TeamFollowResult is the document of the conversation.
type TeamFollowResult struct {
	URI string `json:"uri" jsonschema:"The address of the document, with the scheme xcsh-team; workspace/textDocumentContent returns its text."`
}

func runTeamFollow(ctx context.Context, env *Env, a TeamFollowArgs) (TeamFollowResult, error) {
	of, err := env.teamSession(ctx, a.Subject)
	if err != nil {
		return TeamFollowResult{}, err
	}
	if a.Stop {
		env.Follows.Stop(of.sid)
		return TeamFollowResult{URI: FollowURI(of.sid)}, nil
	}
	uri, err := env.follow(ctx, of)
	return TeamFollowResult{URI: uri}, err
}

// followWithin is the time for the beginning of a conversation. Later it is in the document.
const followWithin = 5 * time.Second

// follow begins to follow a session and shows its document.
func (env *Env) follow(ctx context.Context, of teamSubject) (uri string, err error) {
	if env.Follows == nil {
		return "", fault.New(fault.Denied, "This client cannot show a session of the team store. Pull it with xcsh.resume.")
	}
	began := env.Follows.start(env.Team, env.Store, of)
	late := time.NewTimer(followWithin)
	defer late.Stop()
	select {
	case <-began.first:
	case <-late.C:
	case <-ctx.Done():
		return "", ctx.Err()
	}
	if err := began.failure(); err != nil {
		env.Follows.Stop(of.sid)
		return "", err
	}
	if ui, ok := env.UI.(FollowUI); ok {
		ui.ShowFollowed(ctx, FollowURI(of.sid))
	}
	return FollowURI(of.sid), nil
}
