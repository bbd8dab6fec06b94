package agentbase_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/session/agentbase"
)

// Proves: A-019, AB-025
func TestReserved(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"con", "CON.txt", "nul.", "aux ", "com0", "com5", "COM9.log", "lpt9", "COM¹", "lpt³.x", "conin$", "CONOUT$", "prn.tar.gz",
		"index", "Index", "metadata", "last_session", "", ".", "..", "con .txt",
	} {
		assert.True(t, agentbase.Reserved(name), "%q", name)
	}
	for _, name := range []string{"com10", "com", "lpt", "console", "index2", "my-con", "icon", "com5x", "index.json"} {
		assert.False(t, agentbase.Reserved(name), "%q", name)
	}
}

// Proves: A-019, AB-025
func TestCheckID(t *testing.T) {
	t.Parallel()
	const form = "may only hold letters, digits, dots, dashes and underscores, and neither two dots together nor one at the beginning"
	for id, reason := range map[string]string{
		"": "is empty", "a/b": form, `a\b`: form, "a..b": form, "..": form, ".x": form, "a\x00": form, "a b": form, "é": form, "%2e%2e": form,
		"a\nb": form, "C:x": form, "nul": "is reserved", "com5": "is reserved", "index": "is reserved",
		strings.Repeat("x", 129): "is longer than 128 characters",
	} {
		require.EqualError(t, agentbase.CheckID(id), reason, "%q", id)
	}
	for _, id := range []string{"a", "2025-01-04-14-32-15-001-Ab_-", "A.b", strings.Repeat("x", 128)} {
		require.NoError(t, agentbase.CheckID(id))
	}
}
