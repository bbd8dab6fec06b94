package commands_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
)

var exportedFormats = map[string]string{"html": ".html", "markdown": ".md", "text": ".txt", "jsonl": ".jsonl", "agentBase": ".json"}

// An export to a writer has the bytes and the report of an export to a file.
func TestAnExportToAWriterIsThatToAFile(t *testing.T) {
	t.Parallel()
	for format, ext := range exportedFormats {
		for _, redact := range []bool{true, false} {
			t.Run(fmt.Sprint(format, " ", redact), func(t *testing.T) {
				t.Parallel()
				fs := afero.NewMemMapFs()
				secretSession(t, fs)
				env := newEnv(fs)
				path := "/w/" + library1 + ext
				want := call[commands.ExportResult](t, env, "xcsh.export", args{"source": id1, "path": path, "format": format, "redact": redact})
				var got bytes.Buffer
				r, err := commands.WriteExport(t.Context(), env, commands.ExportArgs{Subject: commands.Subject{Source: id1}, Format: format, Redact: &redact}, &got)
				require.NoError(t, err)
				content, err := afero.ReadFile(fs, path)
				require.NoError(t, err)
				require.Equal(t, string(content), got.String())
				want.Path, want.Unlisted, want.Note = "", false, ""
				require.Equal(t, want, r)
			})
		}
	}
}

// library1 is the name that agent-base gives the session id1, which has no title.
const library1 = "session-01900000"

// The error of the writer is that of the export, and an export without a file is in no index.
func TestAnExportToAWriterFails(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	write(t, fs, file1, talk(id1)...)
	env := newEnv(fs)
	a := commands.ExportArgs{Subject: commands.Subject{Source: id1}}
	for format := range exportedFormats {
		a.Format = format
		_, err := commands.WriteExport(t.Context(), env, a, &full{})
		require.ErrorContains(t, err, "disk is full")
	}
	a.RegisterInIndex = true
	_, err := commands.WriteExport(t.Context(), env, a, &bytes.Buffer{})
	requireKind(t, fault.InvalidArgument, err)
}

// The progress of an export rises from the first entry to the last one, in every format.
func TestAnExportReportsItsProgress(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	lines, parent := []string{st.Header(id1, "/w")}, ""
	for i := range 40 {
		id := fmt.Sprintf("%08x", i+1)
		lines = append(lines, st.User(id, parent, "password: swordfish"+id))
		parent = id
	}
	write(t, fs, file1, lines...)
	for format := range exportedFormats {
		for _, redact := range []bool{true, false} {
			env, last, all := newEnv(fs), 0, 0
			env.Reading = func(done, total int) {
				require.GreaterOrEqual(t, done, last, "%s %v", format, redact)
				last, all = done, total
			}
			_, err := commands.WriteExport(t.Context(), env, commands.ExportArgs{Subject: commands.Subject{Source: id1}, Format: format, Redact: &redact}, &bytes.Buffer{})
			require.NoError(t, err)
			require.Equal(t, all, last, "%s %v", format, redact)
			require.Zero(t, last%40)
			require.NotZero(t, last)
		}
	}
}

// So does that of a dump. A session without messages has none.
func TestADumpReportsItsProgress(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	write(t, fs, file1, talk(id1)...)
	write(t, fs, file2, st.Header(id2, "/w"))
	for _, redact := range []bool{true, false} {
		env := newEnv(fs)
		var reports [][2]int
		env.Reading = func(done, total int) { reports = append(reports, [2]int{done, total}) }
		_, err := commands.WriteDump(t.Context(), env, commands.DumpArgs{Subject: commands.Subject{Source: id1}, Redact: &redact}, &bytes.Buffer{})
		require.NoError(t, err)
		require.Greater(t, len(reports), 1)
		require.True(t, slices.IsSortedFunc(reports, func(a, b [2]int) int { return a[0] - b[0] }), "%v", reports)
		require.Equal(t, reports[0][1], reports[len(reports)-1][0], "%v", reports)

		reports = nil
		_, err = commands.WriteDump(t.Context(), env, commands.DumpArgs{Subject: commands.Subject{Source: id2}, Redact: &redact}, &bytes.Buffer{})
		require.NoError(t, err)
		require.Empty(t, reports)
	}
}

// A search reports the files that were read.
func TestAListReportsItsProgress(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	write(t, fs, file1, talk(id1)...)
	write(t, fs, file2, talk(id2)...)
	env := newEnv(fs)
	var reports [][2]int
	env.Reading = func(done, total int) { reports = append(reports, [2]int{done, total}) }
	call[commands.ListResult](t, env, "xcsh.list", args{"query": "one"})
	require.Equal(t, [][2]int{{1, 2}, {2, 2}}, reports)
}
