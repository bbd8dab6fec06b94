package pi

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var rewrite = flag.Bool("update", false, "rewrite the golden files")

// The lines of the real pi and the real omp become the same events as ever.
func TestRecordingsBecomeEvents(t *testing.T) {
	t.Parallel()
	recordings, err := filepath.Glob(filepath.Join("testdata", "*.jsonl"))
	require.NoError(t, err)
	require.Len(t, recordings, 6)
	for _, path := range recordings {
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			raw, err := os.ReadFile(path)
			require.NoError(t, err)
			var b strings.Builder
			for line := range strings.Lines(string(raw)) {
				for _, meaning := range meanings(t, line) {
					b.WriteString(meaning + "\n")
				}
			}
			golden := strings.TrimSuffix(path, ".jsonl") + ".golden"
			if *rewrite {
				require.NoError(t, os.WriteFile(golden, []byte(b.String()), 0o600))
			}
			want, err := os.ReadFile(golden)
			require.NoError(t, err)
			require.Equal(t, string(want), b.String())
		})
	}
}

// meanings returns what a line of a recording means, in words.
func meanings(t *testing.T, line string) []string {
	t.Helper()
	r, ok := parse([]byte(line))
	require.True(t, ok, "%s", line)
	switch r.typ {
	case "response":
		a := answerOf(&r)
		return []string{fmt.Sprintf("response %s %s %t %s", r.string(fID), r.string(fCommand), !a.failed, a.refusal)}
	case "bash_execution_update":
		return []string{"output " + r.string(fID) + " " + r.string(fDelta)}
	case "extension_ui_request":
		return []string{request(t, &r)}
	case "ready":
		return []string{fmt.Sprintf("ready %s", r.values[fVersions])}
	case "notice", "command_output":
		return []string{"show " + encoded(t, showOf(&r))}
	}
	e, known := translate(&r)
	require.True(t, known, "%s", r.typ)
	switch {
	case e.event != nil:
		return []string{"emit " + encoded(t, e.event)}
	case e.message != nil:
		return []string{"message " + string(e.message)}
	case e.queue != nil:
		return []string{fmt.Sprintf("queued %q %q", e.queue.steering, e.queue.followUp)}
	}
	return []string{"nothing: " + r.typ}
}

func request(t *testing.T, r *record) string {
	t.Helper()
	const mark = "xcsh-ls/1 "
	switch {
	case strings.HasPrefix(r.string(fStatusKey), mark):
		op, raw := bridgeMessage(r.string(fStatusText))
		if op == "hello" {
			h := decodeHello(raw)
			return fmt.Sprintf("hello %s %s %t %v", h.Pi, h.Reason, h.Permit, h.Files)
		}
		return "report " + op + " " + string(raw)
	case strings.HasPrefix(r.string(fTitle), mark):
		return "question " + r.string(fPlaceholder)
	}
	if shown := showOf(r); shown != nil {
		return "show " + encoded(t, shown)
	}
	q, options := questionOf("id", r)
	q.Until = min(q.Until, 1)
	return "ask " + encoded(t, q) + fmt.Sprintf(" %q", options)
}

func encoded(t *testing.T, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	require.NoError(t, err)
	return string(raw)
}
