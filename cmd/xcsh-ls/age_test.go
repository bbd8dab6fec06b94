package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestAges(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{
		"0": 0, "1": day, "30": 30 * day, "30d": 30 * day, "12h": 12 * time.Hour, "6w": 42 * day, "100000": maxAgeDays * day, "2400000h": maxAgeDays * day,
	} {
		got, err := parseAge("older-than", text)
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
	}
	for _, text := range []string{"", "d", "3x", "3m", "-1", "-1d", "1.5d", "1 d", "1d12h", "D", "100001", "100001d", "2400001h", "14286w", "9223372036854775807w", "99999999999999999999"} {
		_, err := parseAge("older-than", text)
		require.EqualError(t, err, `Invalid value "`+text+`" for --older-than: use a number of days up to 100000, or hours (12h), days (30d) or weeks (6w).`)
	}
}
