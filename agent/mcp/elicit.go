package mcp

import (
	"context"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	maxQuestion = 4 << 10 // bytes of a question's message

	accept  = "accept"
	decline = "decline"
	cancel  = "cancel"
)

// ask asks the user the question of a server. A server that asks while no call runs gets a cancellation: it must
// not be able to bring up a question at any time.
func (l *link) ask(ctx context.Context, r *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
	calling, ok := l.running()
	schema := encoded(r.Params.RequestedSchema)
	if !ok || r.Params.URL != "" || len(schema) > maxSchema {
		return &sdk.ElicitResult{Action: cancel}, nil
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	defer context.AfterFunc(calling, stop)()
	l.asking.Add(1)
	defer l.asking.Add(-1)
	s := l.server
	answer, err := s.host.options.Ask(ctx, Question{
		Server: s.def.Name, Message: s.text(r.Params.Message, maxQuestion), Schema: schema,
	})
	if err != nil || ctx.Err() != nil {
		return &sdk.ElicitResult{Action: cancel}, nil //nolint:nilerr // the server gets a cancellation
	}
	switch answer.Action {
	case accept:
		return &sdk.ElicitResult{Action: accept, Content: answer.Content}, nil
	case decline:
		return &sdk.ElicitResult{Action: decline}, nil
	default:
		return &sdk.ElicitResult{Action: cancel}, nil
	}
}
