package library_test

import (
	"cmp"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/sessiontest/kit"
	"github.com/xcsh-ls/xcsh-ls/session/library"
)

// TestFuzzyScoreVectors compares with the scores that xcsh itself gave.
func TestFuzzyScoreVectors(t *testing.T) {
	t.Parallel()
	var cases []struct {
		Query, Text string
		Matches     bool
		Score       float64
	}
	kit.ReadJSON(t, filepath.Join(kit.Fixtures, "xcsh/fuzzy-score.json"), &cases)
	for _, c := range cases {
		score, ok := library.FuzzyScore(c.Query, c.Text)
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
	kit.ReadJSON(t, filepath.Join(kit.Fixtures, "xcsh/fuzzy-filter.json"), &cases)
	for _, c := range cases {
		scores, fits := map[string]float64{}, []string{}
		for _, item := range c.Items {
			if score, ok := library.QueryScore(c.Query, item); ok {
				scores[item], fits = score, append(fits, item)
			}
		}
		slices.SortStableFunc(fits, func(a, b string) int { return cmp.Compare(scores[a], scores[b]) })
		require.Equal(t, c.Result, fits, c.Query)
	}
}

func TestFuzzyScoreCountsUTF16(t *testing.T) {
	t.Parallel()
	// The rocket is two units: x is at position 2, without a gap.
	score, ok := library.FuzzyScore("x", "🚀x")
	require.True(t, ok)
	require.InDelta(t, 0.2, score, 0)
	_, ok = library.FuzzyScore("🚀🚀", "🚀")
	require.False(t, ok)
}
