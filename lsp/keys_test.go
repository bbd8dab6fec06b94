package lsp_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/internal/lsptest"
	"github.com/xcsh-ls/xcsh-ls/lsp"
)

type keyAnswer struct {
	key string
	err error
}

// keeping is a server whose client keeps keys for these providers, and the keys as the server gets them.
func keeping(t *testing.T, providers any) (f *fixture, ed *lsptest.Editor, ask func(ctx context.Context, provider string) <-chan keyAnswer) {
	t.Helper()
	f = newFixture(t)
	opened := make(chan lsp.Client, 1)
	open := f.options.Open
	f.options.Open = func(ctx context.Context, s lsp.Settings, c lsp.Client) (lsp.Backend, error) {
		opened <- c
		return open(ctx, s, c)
	}
	ed = lsptest.Start(t, f.options)
	options := lsptest.Fields{}
	if providers != nil {
		options["keyProviders"] = providers
	}
	ed.Initialize(lsptest.Fields{"initializationOptions": options})
	_, failure := ed.Exec("test.echo", nil)
	require.Nil(t, failure)
	c := receive(t, opened)
	if c.Keys == nil {
		return f, ed, nil
	}
	return f, ed, func(ctx context.Context, provider string) <-chan keyAnswer {
		answers := make(chan keyAnswer, 1)
		go func() {
			if !c.Keys.Has(provider) {
				answers <- keyAnswer{"", fmt.Errorf("no key for %s", provider)}
				return
			}
			key, err := c.Keys.Key(ctx, provider)
			answers <- keyAnswer{key, err}
		}()
		return answers
	}
}

// A client that announces no keys is not asked for one.
func TestOnlyAClientThatKeepsKeysIsAsked(t *testing.T) {
	t.Parallel()
	_, ed, ask := keeping(t, nil)
	require.Nil(t, ask)
	ed.Notify(lsp.MethodKeysChanged, lsptest.Fields{"providers": []string{"p"}})
	_, failure := ed.Exec("test.echo", nil)
	require.Nil(t, failure)
	for name, providers := range map[string]any{"none": []string{}, "no list": "p", "no texts": []any{1, map[string]any{}}} {
		_, _, ask := keeping(t, providers)
		require.Error(t, receive(t, ask(t.Context(), "p")).err, name)
	}
}

// The key is asked for at each use and appears in no log.
func TestTheKeyIsAskedForAtEachUse(t *testing.T) {
	t.Parallel()
	f, ed, ask := keeping(t, []string{"p"})
	for _, c := range []struct {
		result any
		key    string
		fails  bool
	}{
		{lsptest.Fields{"key": "the secret"}, "the secret", false},
		{lsptest.Fields{"key": "another secret", "more": 1}, "another secret", false},
		{lsptest.Fields{"key": nil}, "", false},
		{lsptest.Fields{}, "", false},
		{nil, "", false},
		{lsptest.Fields{"key": 12345678}, "", true},
		{lsptest.Fields{"key": []string{"the secret"}}, "", true},
		{"the secret", "", true},
		{12345678, "", true},
	} {
		answer := ask(t.Context(), "p")
		request := ed.WaitRequest(lsp.MethodKey)
		require.JSONEq(t, `{"provider":"p"}`, string(request.Params))
		request.Reply(c.result)
		got := receive(t, answer)
		require.Equal(t, c.key, got.key)
		require.Equal(t, c.fails, got.err != nil, "%v", got.err)
		if got.err != nil {
			require.NotContains(t, got.err.Error(), "secret")
			require.NotContains(t, got.err.Error(), "1234")
		}
	}
	answer := ask(t.Context(), "p")
	ed.WaitRequest(lsp.MethodKey).Fail(-32603, "the secret is locked")
	require.Error(t, receive(t, answer).err)
	ed.Notify(lsp.MethodKeysChanged, lsptest.Fields{"providers": []string{"q"}})
	require.JSONEq(t, `{}`, string(ed.WaitNotification(lsp.MethodModelsChanged)))
	require.Error(t, receive(t, ask(t.Context(), "p")).err, "it has no key any more")
	for _, e := range f.logs.All() {
		text := fmt.Sprint(e.Message, e.ContextMap())
		require.NotContains(t, text, "secret")
		require.NotContains(t, text, "12345678")
	}
}

// A client that does not answer delays a request for a limited time, and not after its cancellation.
func TestASilentClientDoesNotHangARequest(t *testing.T) {
	t.Parallel()
	f, ed, ask := keeping(t, []string{"p"})
	answer := ask(t.Context(), "p")
	ed.WaitRequest(lsp.MethodKey)
	f.clock.advance(29 * time.Second)
	select {
	case <-answer:
		require.Fail(t, "too early")
	default:
	}
	f.clock.advance(time.Second)
	require.ErrorContains(t, receive(t, answer).err, "did not answer in time")

	ctx, cancel := context.WithCancel(t.Context())
	answer = ask(ctx, "p")
	ed.WaitRequest(lsp.MethodKey)
	cancel()
	require.ErrorIs(t, receive(t, answer).err, context.Canceled)
}

// A key that a command gets is in no log either.
func TestAKeyInACallIsNotLogged(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.options.Commands = commands.Default
	ed := f.start(t)
	for _, params := range []string{
		`{"command":"xcsh.setKey","arguments":[{"provider":"p","key":["the secret"]}]}`,
		`{"command":"xcsh.setKey","arguments":[{"provider":"p","secret":"the secret"}]}`,
		`{"command":"xcsh.setKey","arguments":["the secret"]}`,
		`{"command":"xcsh.setKey","arguments":[{"provider":"p","key":"the secret","remove":true}]}`,
	} {
		_, failure := ed.Call("workspace/executeCommand", rawJSON(params))
		require.NotNil(t, failure)
		require.NotContains(t, failure.Message, "the secret")
	}
	for _, e := range f.logs.All() {
		require.NotContains(t, fmt.Sprint(e.Message, e.ContextMap()), "the secret")
	}
}
