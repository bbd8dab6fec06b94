package lsp_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/lsp"
)

// expecting returns a document with an expected change.
func expecting(t *testing.T) (docs *lsp.Documents, surpassed func() bool, unexpect func()) {
	t.Helper()
	unixPaths(t)
	docs = lsp.NewDocuments(zap.NewNop())
	docs.Opened("/w/a", "old\n")
	doc, ok := docs.Lookup("/w/a")
	require.True(t, ok)
	surpassed, unexpect = docs.Expect(doc, "new\n")
	require.NotNil(t, surpassed)
	require.Equal(t, "new\n", textAt(docs), "read before the client reports it")
	return docs, surpassed, unexpect
}

func textAt(docs *lsp.Documents) string {
	doc, _ := docs.Lookup("/w/a")
	return doc.Text
}

func TestAnExpectedChangeComes(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{"as asked for": "new\n", "with other line ends": "new\r\n", "without the last one": "new"} {
		docs, surpassed, _ := expecting(t)
		docs.Changed("/w/a", 2, text)
		require.False(t, surpassed(), name)
		docs.Changed("/w/a", 3, "typed\n")
		require.False(t, surpassed(), "%s: a later change is another one", name)
		require.Equal(t, "typed\n", textAt(docs))
	}
}

// The client's report of its text takes precedence over the expectation.
func TestAnotherChangeComes(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		report func(*lsp.Documents)
		want   string
	}{
		"typed":        {func(d *lsp.Documents) { d.Changed("/w/a", 2, "typed\n") }, "typed\n"},
		"closed":       {func(d *lsp.Documents) { d.Closed("/w/a") }, ""},
		"opened again": {func(d *lsp.Documents) { d.Opened("/w/a", "reread\n") }, "reread\n"},
	} {
		docs, surpassed, unexpect := expecting(t)
		tc.report(docs)
		require.True(t, surpassed(), name)
		require.Equal(t, tc.want, textAt(docs), name)
		unexpect()
		require.Equal(t, tc.want, textAt(docs), name)
	}
}

func TestAnExpectedChangeIsCalledOff(t *testing.T) {
	t.Parallel()
	docs, _, unexpect := expecting(t)
	docs.Changed("/w/a", 1, "not newer, so ignored\n")
	require.Equal(t, "new\n", textAt(docs))
	unexpect()
	require.Equal(t, "old\n", textAt(docs))
}

// Ending an old expectation does not end a newer one.
func TestALaterExpectationStays(t *testing.T) {
	t.Parallel()
	docs, _, unexpect := expecting(t)
	docs.Changed("/w/a", 2, "new\n")
	doc, _ := docs.Lookup("/w/a")
	surpassed, _ := docs.Expect(doc, "newer\n")
	unexpect()
	require.False(t, surpassed())
	require.Equal(t, "newer\n", textAt(docs))
}

func TestClosedDocumentHasNoExpectedChange(t *testing.T) {
	t.Parallel()
	docs, _, _ := expecting(t)
	doc, _ := docs.Lookup("/w/a")
	docs.Changed("/w/a", 2, "typed\n")
	surpassed, _ := docs.Expect(doc, "newer\n")
	require.Nil(t, surpassed, "another version")
	docs.Closed("/w/a")
	surpassed, _ = docs.Expect(doc, "newer\n")
	require.Nil(t, surpassed, "closed")
	require.Empty(t, textAt(docs))
}

// The next edit waits for the notification about the previous one, but not forever: a client may not
// report a change.
func TestTheNextEditWaits(t *testing.T) {
	t.Parallel()
	const timeout = 2 * time.Second
	for name, tc := range map[string]struct {
		meanwhile func(docs *lsp.Documents, unexpect, cancel func())
		want      time.Duration
	}{
		"until the change comes": {func(d *lsp.Documents, _, _ func()) { d.Changed("/w/a", 2, "new\n") }, time.Second},
		"until it is closed":     {func(d *lsp.Documents, _, _ func()) { d.Closed("/w/a") }, time.Second},
		"until it is called off": {func(_ *lsp.Documents, unexpect, _ func()) { unexpect() }, time.Second},
		"until it is cancelled":  {func(_ *lsp.Documents, _, cancel func()) { cancel() }, time.Second},
		"not forever":            {func(*lsp.Documents, func(), func()) {}, timeout},
		"for its own file only":  {func(d *lsp.Documents, _, _ func()) { d.Opened("/w/b", "new\n") }, timeout},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				docs, _, unexpect := expecting(t)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				begin := time.Now()
				time.AfterFunc(time.Second, func() { tc.meanwhile(docs, unexpect, cancel) })
				docs.Settled(ctx, "/w/a", timeout)
				require.Equal(t, tc.want, time.Since(begin))
				begin = time.Now()
				docs.Settled(ctx, "/w/c", timeout)
				require.Zero(t, time.Since(begin), "nothing is expected of it")
			})
		})
	}
}
