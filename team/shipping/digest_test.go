package shipping_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/library"
	"github.com/xcsh-ls/xcsh-ls/team/shipping"
)

// TestADigestIsThatOfTheList for the files of the real programs that are not damaged, wherever the lines are divided.
func TestADigestIsThatOfTheList(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("../../testdata/sessions/*/*.jsonl")
	require.NoError(t, err)
	compared := 0
	for _, path := range paths {
		content, err := os.ReadFile(path)
		require.NoError(t, err)
		head, err := shipping.ReadHead(bytes.NewReader(content))
		fsys := afero.NewMemMapFs()
		require.NoError(t, afero.WriteFile(fsys, "/s.jsonl", content, 0o600))
		doc, loadErr := session.NewStore(session.StoreConfig{Fs: fsys}).Load("/s.jsonl")
		if err != nil || loadErr != nil || len(doc.Problems()) > 0 || head.Header().Version < session.CurrentVersion || !bytes.HasSuffix(content, []byte("\n")) {
			continue
		}
		compared++
		info, err := library.DescribeOpen(doc, "", time.Time{})
		require.NoError(t, err)
		tally, err := doc.Tally()
		require.NoError(t, err)
		body := content[head.Len():]
		var d, byLine shipping.Digest
		texts := d.Add(shipping.Rules{}, body, "")
		for line := range bytes.Lines(body) {
			byLine.Add(shipping.Rules{}, line, "")
		}
		require.Equal(t, d, byLine, path)
		require.Equal(t, info.MessageCount, d.Messages, path)
		require.InDelta(t, tally.Usage.Cost, d.Cost, 1e-9, path)
		require.True(t, strings.HasPrefix(info.FirstMessage, d.First), path)
		require.True(t, utf8.RuneCountInString(d.First) <= 200 && (d.First != "" || info.FirstMessage == "(no messages)"), path)
		if info.Origin != "omp" {
			require.Equal(t, info.Title, d.Title(head), path)
		}
		require.EqualValues(t, len(body), d.File)
		for _, text := range texts {
			require.Contains(t, string(body[text.Off:]), text.Entry)
			require.True(t, text.Off == 0 || body[text.Off-1] == '\n')
		}
	}
	require.Greater(t, compared, 20)
}

// TestOffsetsAreThoseOfTheLinesThatLeft: redaction changes lengths.
func TestOffsetsAreThoseOfTheLinesThatLeft(t *testing.T) {
	t.Parallel()
	rules, err := shipping.NewRules(shipping.CurrentRules, "a-long-secret-of-the-user-0123456789")
	require.NoError(t, err)
	lines := []byte(st.User("a", "", "It is a-long-secret-of-the-user-0123456789") + "\n" + st.User("b", "", "second") + "\n")
	out := shipping.NewOutgoing(rules)
	left := out.Batch(lines).Bytes
	require.NotEqual(t, len(lines), len(left))
	var d shipping.Digest
	texts := d.Add(rules, lines, "")
	require.Len(t, texts, 2)
	require.NotContains(t, texts[0].Body+d.First, "a-long-secret")
	require.EqualValues(t, bytes.IndexByte(left, '\n')+1, texts[1].Off)
	require.EqualValues(t, len(lines), d.File)
	require.EqualValues(t, len(left), d.Out)
}

// TestHomeDirectoriesBecomeTildes, and other paths stay.
func TestHomeDirectoriesBecomeTildes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"/home/ann": "~", "/home/ann/a /home/ann/b": "~/a ~/b", "see `/home/ann`.": "see `~`.", "/home/anna/a": "/home/anna/a", "/mnt/home/ann/a": "/mnt/home/ann/a",
		"/home/ann-2": "/home/ann-2", "file:///home/ann/a": "file://~/a", "": "", "none": "none", "/home/annö": "/home/annö",
	} {
		require.Equal(t, want, shipping.Tilde(text, "/home/ann"), text)
		require.Equal(t, want, shipping.Tilde(text, "/home/ann/"), text)
		require.Equal(t, text, shipping.Tilde(text, ""))
	}
	require.Equal(t, `~\a`, shipping.Tilde(`C:\Users\ann\a`, `C:\Users\ann`))
}
