package session_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/session"
)

func TestFormatTimeIsThatOfALayout(t *testing.T) {
	t.Parallel()
	const layout = "2006-01-02T15:04:05.000Z"
	r := rand.New(rand.NewPCG(1, 2))
	times := []time.Time{{}, time.Unix(0, 0), time.Date(9999, 12, 31, 23, 59, 59, 999999999, time.UTC), time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(-1, 3, 4, 5, 6, 7, 8, time.UTC)}
	for range 2000 {
		times = append(times, time.Unix(r.Int64N(4e11)-2e11, r.Int64N(1e9)).In(time.FixedZone("somewhere", r.IntN(80000)-40000)))
	}
	for _, at := range times {
		require.Equal(t, at.UTC().Format(layout), session.FormatTime(at))
	}
}
