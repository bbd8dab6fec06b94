package main

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// fake is a judge that takes a second for each mutant.
type fake struct {
	verdicts map[string]verdict // by row
	mu       sync.Mutex
	judged   []string
}

func (f *fake) judge(_ context.Context, m mutant) result {
	<-time.After(time.Second) // of the bubble's clock
	f.mu.Lock()
	defer f.mu.Unlock()
	f.judged = append(f.judged, m.row)
	return result{mutant: m, verdict: f.verdicts[m.row], took: time.Second, log: "the log of " + m.row}
}

func numbered(n int) (list []mutant) {
	for i := range n {
		list = append(list, mutant{row: fmt.Sprintf("X-%03d", i), tests: []string{"a.TestSum"}, bug: "bug"})
	}
	return list
}

func TestTheWholeListRuns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		f := &fake{}
		require.NoError(t, plan{jobs: 2}.run(t.Context(), &out, numbered(10), f))
		require.Len(t, f.judged, 10)
		require.Contains(t, out.String(), "10 mutants of 10 rows in 5s: 10 killed, 0 survived, 0 hung, 0 unusable\n", "two at a time")
		require.NotContains(t, out.String(), "-seed")
	})
}

func TestWhatWasNotKilledFails(t *testing.T) {
	t.Parallel()
	for _, v := range []verdict{survived, stuck, unusable} {
		synctest.Test(t, func(t *testing.T) {
			var out bytes.Buffer
			f := &fake{verdicts: map[string]verdict{"X-001": v}}
			require.ErrorContains(t, plan{jobs: 1}.run(t.Context(), &out, numbered(3), f), "1 of 3 mutants were not killed")
			require.Contains(t, out.String(), v.String())
			require.Contains(t, out.String(), "the log of X-001")
			require.NotContains(t, out.String(), "the log of X-002")
		})
	}
}

func TestASampleEndsWithItsBudget(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		f := &fake{}
		require.NoError(t, plan{budget: 5500 * time.Millisecond, seed: "2026-01-02", jobs: 1}.run(t.Context(), &out, numbered(100), f))
		require.Len(t, f.judged, 6, "one that was started is finished")
		require.Contains(t, out.String(), "repeat it with -seed 2026-01-02\n")

		slow := &fake{}
		require.NoError(t, plan{budget: time.Millisecond, jobs: 1}.run(t.Context(), &out, numbered(100), slow))
		require.Len(t, slow.judged, least, "some run on any machine")
	})
}

func TestTheSeedGivesTheOrder(t *testing.T) {
	t.Parallel()
	order := func(seed string) (rows []string) {
		for _, m := range (plan{budget: time.Minute, seed: seed}).order(numbered(50)) {
			rows = append(rows, m.row)
		}
		return rows
	}
	one := order("2026-01-02")
	require.Equal(t, one, order("2026-01-02"))
	require.NotEqual(t, one, order("2026-01-03"))
	require.ElementsMatch(t, order("a"), order("b"))
	require.True(t, slices.IsSortedFunc(plan{}.order([]mutant{
		{tests: []string{"b.TestB"}}, {tests: []string{"a.TestA"}}, {tests: []string{"TestScripts/run"}},
	}), func(a, b mutant) int {
		x, _, _ := target(a.tests[0])
		y, _, _ := target(b.tests[0])
		return bytes.Compare([]byte(x), []byte(y))
	}), "by package")
}

func TestAnInterruptedRunFails(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out bytes.Buffer
	require.ErrorContains(t, plan{jobs: 1}.run(ctx, &out, numbered(3), &fake{}), "no mutant ran")
}
