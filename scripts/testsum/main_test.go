package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSummarize(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		events []string
		want   totals
		shows  []string
		hides  []string
	}{
		{
			name: "a passing test is one line and its package one more",
			events: []string{
				`{"Action":"start","Package":"p"}`,
				`{"Action":"run","Package":"p","Test":"TestA"}`,
				`{"Action":"output","Package":"p","Test":"TestA","Output":"chatter\n"}`,
				`{"Action":"pass","Package":"p","Test":"TestA","Elapsed":0.1}`,
				`{"Action":"output","Package":"p","Output":"PASS\n"}`,
				`{"Action":"output","Package":"p","Output":"ok  \tp\t0.2s\n"}`,
				`{"Action":"pass","Package":"p"}`,
			},
			want:  totals{passed: 1},
			shows: []string{"pass p TestA (0.10s)\n", "ok  \tp\t0.2s\n", "1 passed, 0 failed, 0 skipped\n"},
			hides: []string{"chatter", "PASS"},
		},
		{
			name: "a failing test shows all it said and counts once",
			events: []string{
				`{"Action":"output","Package":"p","Test":"TestA","Output":"want 1, got 2\n"}`,
				`{"Action":"fail","Package":"p","Test":"TestA"}`,
				`{"Action":"output","Package":"p","Output":"FAIL\tp\t0.2s\n"}`,
				`{"Action":"fail","Package":"p"}`,
			},
			want:  totals{failed: 1},
			shows: []string{"fail p TestA (0.00s)\nwant 1, got 2\n", "FAIL\tp\t0.2s\n"},
		},
		{
			name: "a package that does not build is one failure, with the compiler's words",
			events: []string{
				`{"ImportPath":"p [p.test]","Action":"build-output","Output":"p.go:1: undefined: x\n"}`,
				`{"ImportPath":"p [p.test]","Action":"build-fail"}`,
				`{"Action":"output","Package":"p","Output":"FAIL\tp [build failed]\n"}`,
				`{"Action":"fail","Package":"p","FailedBuild":"p [p.test]"}`,
			},
			want:  totals{failed: 1},
			shows: []string{"undefined: x", "[build failed]", "0 passed, 1 failed"},
		},
		{
			name: "a process that dies in a test is one failure, with the test's output",
			events: []string{
				`{"Action":"output","Package":"p","Test":"TestA","Output":"panic: boom\n"}`,
				`{"Action":"fail","Package":"p"}`,
			},
			want:  totals{failed: 1},
			shows: []string{"panic: boom"},
		},
		{
			name: "a skipped test says why",
			events: []string{
				`{"Action":"output","Package":"p","Test":"TestA","Output":"needs Windows\n"}`,
				`{"Action":"skip","Package":"p","Test":"TestA"}`,
				`{"Action":"pass","Package":"p"}`,
			},
			want:  totals{skipped: 1},
			shows: []string{"needs Windows", "0 passed, 0 failed, 1 skipped"},
		},
		{
			name:   "what is not an event is passed on",
			events: []string{`go: cannot find module`},
			shows:  []string{"go: cannot find module\n"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var out strings.Builder
			got, err := summarize(strings.NewReader(strings.Join(tt.events, "\n")+"\n"), &out)
			require.NoError(t, err)
			require.Equal(t, tt.want, got)
			for _, s := range tt.shows {
				require.Contains(t, out.String(), s)
			}
			for _, s := range tt.hides {
				require.NotContains(t, out.String(), s)
			}
		})
	}
}

func TestTallyIsAppended(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "tally")
	require.NoError(t, appendLine(path, "1 0 0\n"))
	require.NoError(t, appendLine(path, "2 0 0\n"))
	got, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "1 0 0\n2 0 0\n", string(got))
}
