package session_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/session"
)

// Proves: X-028
func TestFieldsOfABranchSummary(t *testing.T) {
	t.Parallel()
	for _, flag := range []string{"fromExtension", "fromHook"} {
		e := session.Entry{Raw: []byte(`{"type":"branch_summary","fromId":"aaaaaaaa","summary":"S","details":{"a":[1]},"` + flag + `":true}`)}
		got := e.AsBranchSummary()
		require.Equal(t, "aaaaaaaa", got.FromID)
		require.Equal(t, "S", got.Summary)
		require.JSONEq(t, `{"a":[1]}`, string(got.Details))
		require.True(t, got.FromExtension, flag)
	}
	bare := session.Entry{Raw: []byte(`{"type":"branch_summary","fromId":"root","summary":"S"}`)}.AsBranchSummary()
	require.Equal(t, session.BranchSummary{FromID: "root", Summary: "S"}, bare)
}
