package export

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/session/redact"
)

// A line whose redaction does not end keeps its place in the tree and nothing else.
func TestALineWithoutAnEndIsWithheld(t *testing.T) {
	t.Parallel()
	const secret = "known" + "-text-1"
	for line, want := range map[string]string{
		`{"type":"message","id":"a1","parentId":null,"timestamp":"t","message":{"content":"` + secret + `"}}`: `{"type":"custom","customType":"xcsh-ls.withheld","id":"a1","parentId":null,"timestamp":"t"}`,
		`{"type":"message","message":{"content":"` + secret + `"}}`:                                           `{"type":"custom","customType":"xcsh-ls.withheld"}`,
		"garbage " + secret: `{"type":"custom","customType":"xcsh-ls.withheld"}`,
	} {
		scanner := redact.NewScanner(secret)
		r := Redactor{Scanner: scanner, rounds: 1} // a second one would see that nothing changes
		got := r.Line([]byte(line))
		require.Equal(t, want, string(got))
		require.Equal(t, want, string((&Redactor{Scanner: scanner}).Line(got)))
	}
}
