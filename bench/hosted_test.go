package bench_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/engine/enginetest"
	"github.com/xcsh-ls/xcsh-ls/bench/corpus/gen"
	hosted "github.com/xcsh-ls/xcsh-ls/bench/hosted/suite"
)

// Everything is measured with the double, and the clients of the server and of the double see the same texts.
func TestAnEngineIsMeasuredThroughTheServer(t *testing.T) {
	t.Parallel()
	s := one(t, gen.Preset{Bytes: 40e3, Flavour: gen.Pi, Once: true})
	work, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	r, err := hosted.Run(t.Context(), hosted.Config{
		Server: runner(t).Programs[0].Path, Engines: []hosted.Engine{{Name: "a double", Argv: []string{enginetest.Build(t, "double")}, Session: s.Path}}, Work: work,
		Pairs: 2, Rounds: 1, Big: 50e3, Pieces: 300, Log: t.Logf,
	})
	require.NoError(t, err)
	var out strings.Builder
	r.Markdown(&out)
	for _, want := range []string{
		"### With a double\n", "| prompt to the first piece (2 pairs) | ", "| start to the first piece (1 pairs) | ", "| large session to the first piece (1 pairs) | ",
		"| 0.05 MB: prompt to the end (1 pairs) | ", "| 300 pieces: pieces per second | ", "| CPU time of an answer in 300 pieces | ",
	} {
		require.Contains(t, out.String(), want)
	}
}
