package session_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/session"
)

// TestFuzzyScoreVectors compares with the scores that xcsh itself gave.
func TestFuzzyScoreVectors(t *testing.T) {
	t.Parallel()
	var cases []struct {
		Query, Text string
		Matches     bool
		Score       float64
	}
	readJSON(t, filepath.Join(fixtures, "xcsh/fuzzy-score.json"), &cases)
	for _, c := range cases {
		score, ok := session.FuzzyScore(c.Query, c.Text)
		require.Equal(t, c.Matches, ok, "%q in %q", c.Query, c.Text)
		if ok {
			require.InDelta(t, c.Score, score, 0, "%q in %q", c.Query, c.Text)
		}
	}
}

func TestFuzzyFilterVectors(t *testing.T) {
	t.Parallel()
	var cases []struct {
		Query         string
		Items, Result []string
	}
	readJSON(t, filepath.Join(fixtures, "xcsh/fuzzy-filter.json"), &cases)
	for _, c := range cases {
		got := session.FuzzyFilter(c.Query, c.Items, func(s string) string { return s })
		require.Equal(t, c.Result, got, c.Query)
	}
}

func TestFuzzyScoreCountsUTF16(t *testing.T) {
	t.Parallel()
	// The rocket is two units: x stands at position 2, after a gap of none.
	score, ok := session.FuzzyScore("x", "🚀x")
	require.True(t, ok)
	require.InDelta(t, 0.2, score, 0)
	_, ok = session.FuzzyScore("🚀🚀", "🚀")
	require.False(t, ok)
}
