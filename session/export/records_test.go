package export_test

import (
	"bytes"
	"encoding/json"
	"iter"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/session/export"
)

// The hash of a short secret can be guessed, so that no exported line has the hash of a content.
func TestExportedRecordsHaveNoHashes(t *testing.T) {
	t.Parallel()
	hash := strings.Repeat("9f", 32)
	state := `{"kind":"file","sha256":"` + hash + `","mode":420,"size":12345678901234567890}`
	entry := func(kind, data string) string {
		return `{"type":"custom","customType":"` + kind + `","data":` + data + `,"id":"aaaaaaaa","parentId":null}`
	}
	for name, c := range map[string]struct{ line, want string }{
		"a record": {
			entry("xcsh-ls.change", `{"v":1,"changes":[{"path":"a","before":`+state+`,"after":`+state+`}],"manifest":"`+hash+`"}`),
			entry("xcsh-ls.change", `{"changes":[{"after":{"kind":"file","mode":420,"size":12345678901234567890},`+
				`"before":{"kind":"file","mode":420,"size":12345678901234567890},"path":"a"}],"v":1}`),
		},
		"a review": {
			entry("xcsh-ls.review", `{"v":1,"kept":[{"path":"a","before":`+state+`}]}`),
			entry("xcsh-ls.review", `{"kept":[{"before":{"kind":"file","mode":420,"size":12345678901234567890},"path":"a"}],"v":1}`),
		},
		"another program's": {entry("acme.change", state), entry("acme.change", state)},
		"a message": {
			`{"type":"message","message":{"role":"user","content":"\"xcsh-ls.change\" ` + hash + `"},"id":"b","parentId":null}`,
			`{"type":"message","message":{"role":"user","content":"\"xcsh-ls.change\" ` + hash + `"},"id":"b","parentId":null}`,
		},
		"a record without data": {
			`{"type":"custom","customType":"xcsh-ls.change","id":"c","parentId":null}`,
			`{"type":"custom","customType":"xcsh-ls.change","id":"c","parentId":null}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			lines := func(yield func(json.RawMessage, error) bool) { yield(json.RawMessage(c.line), nil) }
			require.NoError(t, export.JSONL(&out, export.Doc{Entries: iter.Seq2[json.RawMessage, error](lines)}))
			require.Equal(t, c.want+"\n", out.String())
		})
	}
}
