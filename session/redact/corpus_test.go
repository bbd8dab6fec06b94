package redact_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
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

// missed are the kinds that are not found in a carrier, of which the next line, or the next word, may be
// anything. All other kinds are found in all other carriers.
var missed = map[string]string{
	"keys/wrapped line": "aws access key, aws temporary key, scaleway, docker hub, paypal braintree, password hash",
	"context/URL":       "pgpass",
	"context/Markdown":  "pgpass",
	"context/continued": "seed phrase",
	"context/sum":       "redis url, xml element, pgpass, redis-cli, sudo, sql role, seed phrase",
	"context/wrapped line": "aws secret, redis url, ado.net, libpq, jdbc, env password, env word, pgpassword, yaml password, go short, " +
		"go typed, python keyword, ruby hash, properties, xml element, xml attributes, powershell, netrc, pgpass, curl user, mysql, sshpass, " +
		"docker login, password option, password option equals, redis-cli, ldapsearch, openssl, sudo, htpasswd, sql role, sentence, django, " +
		"cloudflare, cisco",
}

func TestCorpusIsFound(t *testing.T) {
	t.Parallel()
	require.GreaterOrEqual(t, len(keyKinds), 120)
	for name, kinds := range map[string][]kind{"keys": keyKinds, "context": contextKinds} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var table strings.Builder
			for _, c := range carriers {
				of, not := hits(c, kinds)
				fmt.Fprintf(&table, "%-15s %8s %5.1f %%  %s\n", c.name, of, 100*of.rate(), strings.Join(not, ", "))
				assert.Equal(t, missed[name+"/"+c.name], strings.Join(not, ", "), c.name)
			}
			t.Logf("%d kinds\n%s", len(kinds), table.String())
		})
	}
}

// hits tries all kinds in a carrier.
func hits(c carrier, kinds []kind) (of score, not []string) {
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
			not = append(not, k.name)
		}
	}
	return of, not
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
