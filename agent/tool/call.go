package tool

import "context"

// Call names a running tool call.
type Call struct {
	ID   string
	Tool string
}

type callKey struct{}

// WithCall returns a context whose changes of files belong to a call.
func WithCall(ctx context.Context, c Call) context.Context {
	return context.WithValue(ctx, callKey{}, c)
}

// CallOf returns the call to which changes of files belong, the zero value outside of calls.
func CallOf(ctx context.Context) Call {
	c, _ := ctx.Value(callKey{}).(Call)
	return c
}
