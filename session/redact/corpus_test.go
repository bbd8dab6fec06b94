package redact_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/session/redact"
)

// score counts hits.
type score struct{ hits, tries int }

func (s score) String() string {
	if s.tries == 0 {
		return "-"
	}
	return fmt.Sprintf("%d/%d", s.hits, s.tries)
}

func (s score) rate() float64 { return float64(s.hits) / float64(max(1, s.tries)) }

// drawsPerKind is how many secrets are generated of a kind. A kind counts as found in a
// carrier if all are.
const drawsPerKind = 5

func TestCorpusIsFound(t *testing.T) {
	t.Parallel()
	require.GreaterOrEqual(t, len(keyKinds), 120)
	for name, tc := range map[string]struct {
		kinds []kind
		least float64
	}{
		"keys":    {keyKinds, .95},
		"context": {contextKinds, .90},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var table strings.Builder
			for _, c := range carriers {
				of, missed := hits(c, tc.kinds)
				fmt.Fprintf(&table, "%-15s %8s %5.1f %%  %s\n", c.name, of, 100*of.rate(), strings.Join(missed, ", "))
				least := tc.least
				if name == "context" && c.name == "wrapped line" {
					least = .5 // of a short password, the next line may be anything
				}
				if of.rate() < least {
					t.Errorf("%s: %s is less than %.0f %%", c.name, of, 100*least)
				}
			}
			t.Logf("%d kinds\n%s", len(tc.kinds), table.String())
		})
	}
}

// hits tries all kinds in a carrier.
func hits(c carrier, kinds []kind) (of score, missed []string) {
	scanner := redact.NewScanner()
	for i, k := range kinds {
		r := drawer(uint64(i))
		found := true
		for range drawsPerKind {
			text, pieces := c.pack(k.drawn(r))
			out := redacted(scanner, text)
			for _, p := range pieces {
				found = found && (len(p) < 4 || !strings.Contains(out, p))
			}
		}
		of.tries++
		if found {
			of.hits++
		} else {
			missed = append(missed, k.name)
		}
	}
	return of, missed
}

// redacted is a text without its certain secrets.
func redacted(s *redact.Scanner, text string) string {
	var sure []redact.Finding
	for _, f := range s.Scan(text) {
		if !f.Doubtful {
			sure = append(sure, f)
		}
	}
	return redact.Replace(text, sure)
}

func drawer(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(7, seed)) }
