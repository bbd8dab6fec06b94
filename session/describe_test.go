package session_test

import (
	"os"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
	"github.com/xcsh-ls/xcsh-ls/internal/sessiontest/kit"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// descriptionOf reads the description from the file at path, as the next program to open it
// does.
func descriptionOf(t *testing.T, fs afero.Fs, path string) string {
	t.Helper()
	doc, err := session.Load(fs, path)
	require.NoError(t, err)
	defer doc.Close()
	text, err := doc.Description()
	require.NoError(t, err)
	return text
}

// A description is one appended line. The newest one in the file counts, on whatever
// branch; an empty one clears it.
func TestDescription(t *testing.T) {
	t.Parallel()
	st.RunStorage(t, func(t *testing.T, fs afero.Fs) {
		kit.Put(t, fs, kit.Filed, kit.Conversation())
		l, err := kit.NewStore(fs).Open(kit.Filed)
		require.NoError(t, err)
		require.Empty(t, descriptionOf(t, fs, kit.Filed))
		for _, text := range []string{"first", "  two\r\nlines\t\x1b[1m \u202Ehidden\xff\n", "", "back again"} {
			before := kit.Content(t, fs, kit.Filed)
			stored, err := l.SetDescription(text)
			require.NoError(t, err)
			require.Equal(t, session.CleanDescription(text), stored)
			require.Equal(t, stored, descriptionOf(t, fs, kit.Filed))
			after := kit.Content(t, fs, kit.Filed)
			require.True(t, strings.HasPrefix(after, before))
			require.Equal(t, 1, strings.Count(after[len(before):], "\n"))
			require.Contains(t, after[len(before):], `{"type":"custom","customType":"xcsh-ls.description","data":{"text":`)
		}
		require.NoError(t, l.Branch("aaaaaaaa"))
		kit.MustAppend(t, l, kit.Say("user", "another branch"))
		require.Equal(t, "back again", descriptionOf(t, fs, kit.Filed))
		same := kit.Content(t, fs, kit.Filed)
		_, err = l.SetDescription(" back again ")
		require.NoError(t, err)
		require.Equal(t, same, kit.Content(t, fs, kit.Filed), "it is that already")
		_, err = l.SetDescription(strings.Repeat("é", 10_001))
		require.True(t, fault.Is(err, fault.InvalidArgument), err)
		require.Equal(t, same, kit.Content(t, fs, kit.Filed))
		require.NoError(t, l.Close())
	})
}

// Proves: AB-027
func TestCleanDescription(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                             "",
		" \n\t":                        "",
		"a\r\nb\rc\td":                 "a\nb\nc\td",
		"\x1b]0;x\x07y\u009bz":         "]0;x y z",
		"\u202Eab\u2066c":              "abc",
		"\xff":                         "\uFFFD",
		"  keeps  inner   blanks  \n ": "keeps  inner   blanks",
	} {
		require.Equal(t, want, session.CleanDescription(text), "%q", text)
	}
}

// A description that another program wrote is cleaned too, and an invalid one is ignored.
func TestDescriptionsOfOthers(t *testing.T) {
	t.Parallel()
	const good = `{"type":"custom","customType":"xcsh-ls.description","data":{"text":"a\u0007b"},"id":"c1","parentId":null}`
	for _, other := range []string{
		`{"type":"custom","customType":"xcsh-ls.description","data":{"text":7},"id":"c2","parentId":null}`,
		`{"type":"custom","customType":"xcsh-ls.description","data":null,"id":"c2","parentId":null}`,
		`{"type":"custom","customType":"other","data":{"text":"not this"},"id":"c2","parentId":null}`,
		`{"type":"custom_message","customType":"xcsh-ls.description","content":"x","data":{"text":"not this"},"id":"c2","parentId":null}`,
	} {
		doc, err := session.Parse([]byte(kit.Conversation() + good + "\n" + other + "\n"))
		require.NoError(t, err)
		text, err := doc.Description()
		require.NoError(t, err)
		require.Equal(t, "a b", text)
	}
}

// No context includes a description, whichever program's rules it is built by.
// Proves: AB-037
func TestNoContextHasTheDescription(t *testing.T) {
	t.Parallel()
	for _, dialect := range []session.Dialect{session.Xcsh, session.Pi, session.Omp} {
		fs := afero.NewMemMapFs()
		kit.Put(t, fs, kit.Filed, kit.Conversation())
		context := func() session.Context {
			doc, err := session.LoadAs(fs, kit.Filed, &dialect)
			require.NoError(t, err)
			ctx, problems, err := session.BuildContext(doc, session.AtLast(), nil)
			require.NoError(t, err)
			require.Empty(t, problems)
			return ctx
		}
		before := context()
		l, err := kit.NewStore(fs).Open(kit.Filed)
		require.NoError(t, err)
		_, err = l.SetDescription("not for models")
		require.NoError(t, err)
		require.NoError(t, l.Close())
		require.Contains(t, kit.Content(t, fs, kit.Filed), "not for models")
		require.Equal(t, before.Messages, context().Messages, dialect.String())
	}
}

// A description does not create the file: the first answer does, or a user who saves the
// session.
func TestADescriptionWaitsForTheFile(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	l, err := kit.NewStore(fs).Create("/w", session.NewOptions{})
	require.NoError(t, err)
	_, err = l.SetDescription("early")
	require.NoError(t, err)
	require.NoFileExists(t, l.Path())
	_, err = fs.Stat(l.Path())
	require.ErrorIs(t, err, os.ErrNotExist)
	kit.MustAppend(t, l, kit.Say("user", "x"))
	kit.MustAppend(t, l, kit.Say("assistant", "y"))
	require.Equal(t, "early", descriptionOf(t, fs, l.Path()))
	require.NoError(t, l.Close())
}

// Proves: AB-008
func TestLastActivity(t *testing.T) {
	t.Parallel()
	entry := func(id, timestamp string) string {
		return `{"type":"label","id":"` + id + `","parentId":null,"timestamp":"` + timestamp + `"}` + "\n"
	}
	for more, want := range map[string]string{
		"": "2026-01-01T00:00:01.000Z",
		entry("c1", "2030-01-01T00:00:00Z") + entry("c2", "no time"): "2030-01-01T00:00:00.000Z",
		entry("c1", "2020-01-01T00:00:00Z"):                          "2020-01-01T00:00:00.000Z",
	} {
		doc, err := session.Parse([]byte(kit.Conversation() + more))
		require.NoError(t, err)
		at, err := doc.LastActivity()
		require.NoError(t, err)
		require.Equal(t, want, at)
	}
	doc, err := session.Parse([]byte(st.Header("x", "/w") + "\n"))
	require.NoError(t, err)
	at, err := doc.LastActivity()
	require.NoError(t, err)
	require.Equal(t, doc.Header().Timestamp, at)
}
