package session_test

import (
	"os"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/fault"
	st "github.com/xcsh-ls/xcsh-ls/session/sessiontest"
)

// descriptionOf reads the description of the file at path as who opens it next does.
func descriptionOf(t *testing.T, fs afero.Fs, path string) string {
	t.Helper()
	doc, err := session.Load(fs, path)
	require.NoError(t, err)
	defer doc.Close()
	text, err := doc.Description()
	require.NoError(t, err)
	return text
}

// A description is one appended line. The newest of the file counts, on whatever branch; an
// empty one takes it away.
func TestDescription(t *testing.T) {
	t.Parallel()
	st.RunStorage(t, func(t *testing.T, fs afero.Fs) {
		put(t, fs, filed, conversation())
		l, err := newStore(fs).Open(filed)
		require.NoError(t, err)
		require.Empty(t, descriptionOf(t, fs, filed))
		for _, text := range []string{"first", "  two\r\nlines\t\x1b[1m \u202Ehidden\xff\n", "", "back again"} {
			before := content(t, fs, filed)
			stored, err := l.SetDescription(text)
			require.NoError(t, err)
			require.Equal(t, session.CleanDescription(text), stored)
			require.Equal(t, stored, descriptionOf(t, fs, filed))
			after := content(t, fs, filed)
			require.True(t, strings.HasPrefix(after, before))
			require.Equal(t, 1, strings.Count(after[len(before):], "\n"))
			require.Contains(t, after[len(before):], `{"type":"custom","customType":"xcsh-ls.description","data":{"text":`)
		}
		require.NoError(t, l.Branch("aaaaaaaa"))
		mustAppend(t, l, say("user", "another branch"))
		require.Equal(t, "back again", descriptionOf(t, fs, filed))
		same := content(t, fs, filed)
		_, err = l.SetDescription(" back again ")
		require.NoError(t, err)
		require.Equal(t, same, content(t, fs, filed), "it is that already")
		_, err = l.SetDescription(strings.Repeat("é", 10_001))
		require.True(t, fault.Is(err, fault.InvalidArgument), err)
		require.Equal(t, same, content(t, fs, filed))
		require.NoError(t, l.Close())
	})
}

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

// What others wrote as a description is cleaned too, and what is none is passed over.
func TestDescriptionsOfOthers(t *testing.T) {
	t.Parallel()
	const good = `{"type":"custom","customType":"xcsh-ls.description","data":{"text":"a\u0007b"},"id":"c1","parentId":null}`
	for _, other := range []string{
		`{"type":"custom","customType":"xcsh-ls.description","data":{"text":7},"id":"c2","parentId":null}`,
		`{"type":"custom","customType":"xcsh-ls.description","data":null,"id":"c2","parentId":null}`,
		`{"type":"custom","customType":"other","data":{"text":"not this"},"id":"c2","parentId":null}`,
		`{"type":"custom_message","customType":"xcsh-ls.description","content":"x","data":{"text":"not this"},"id":"c2","parentId":null}`,
	} {
		doc, err := session.Parse([]byte(conversation() + good + "\n" + other + "\n"))
		require.NoError(t, err)
		text, err := doc.Description()
		require.NoError(t, err)
		require.Equal(t, "a b", text)
	}
}

// No model is shown a description, by whichever program's rules the context is built.
func TestNoContextHasTheDescription(t *testing.T) {
	t.Parallel()
	for _, dialect := range []session.Dialect{session.Xcsh, session.Pi, session.Omp} {
		fs := afero.NewMemMapFs()
		put(t, fs, filed, conversation())
		context := func() session.Context {
			doc, err := session.LoadAs(fs, filed, &dialect)
			require.NoError(t, err)
			ctx, problems, err := session.BuildContext(doc, session.AtLast(), nil)
			require.NoError(t, err)
			require.Empty(t, problems)
			return ctx
		}
		before := context()
		l, err := newStore(fs).Open(filed)
		require.NoError(t, err)
		_, err = l.SetDescription("not for models")
		require.NoError(t, err)
		require.NoError(t, l.Close())
		require.Contains(t, content(t, fs, filed), "not for models")
		require.Equal(t, before.Messages, context().Messages, dialect.String())
	}
}

// A description does not bring a file about: that is for the first answer, or for a person
// who saves.
func TestADescriptionWaitsForTheFile(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	l, err := newStore(fs).Create("/w", session.NewOptions{})
	require.NoError(t, err)
	_, err = l.SetDescription("early")
	require.NoError(t, err)
	require.NoFileExists(t, l.Path())
	_, err = fs.Stat(l.Path())
	require.ErrorIs(t, err, os.ErrNotExist)
	mustAppend(t, l, say("user", "x"))
	mustAppend(t, l, say("assistant", "y"))
	require.Equal(t, "early", descriptionOf(t, fs, l.Path()))
	require.NoError(t, l.Close())
}

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
		doc, err := session.Parse([]byte(conversation() + more))
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
