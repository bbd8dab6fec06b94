package commands

import (
	"context"
	"sync"
)

type (
	roomKey  struct{} // the function of [WithRoom]
	enterKey struct{} // the same for a command that needs room
)

// WithRoom returns the context of a call whose answer may need room. A command whose answer may be as large as a session
// calls enter once, before it reads the session and after its last question to the user. enter waits until few such
// answers are in memory, and fails if ctx ends.
func WithRoom(ctx context.Context, enter func(ctx context.Context) error) context.Context {
	return context.WithValue(ctx, roomKey{}, enter)
}

// large are the commands whose answers may be as large as a session.
var large = map[string]bool{
	"xcsh.messages": true,
	"xcsh.context":  true, "xcsh.dump": true, "xcsh.entries": true, "xcsh.snapshot": true, "xcsh.tree": true,
}

// needingRoom returns the context of a call of the command called name.
func needingRoom(ctx context.Context, name string) context.Context {
	enter, _ := ctx.Value(roomKey{}).(func(context.Context) error)
	if enter == nil || !large[name] {
		return ctx
	}
	return context.WithValue(ctx, enterKey{}, sync.OnceValue(func() error { return enter(ctx) }))
}

// waitForRoom waits until there is room for the answer, if the call needs any.
func waitForRoom(ctx context.Context) error {
	enter, _ := ctx.Value(enterKey{}).(func() error)
	if enter == nil {
		return nil
	}
	return enter()
}
