package session_test

import (
	"strings"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
	"github.com/xcsh-ls/xcsh-ls/internal/sessiontest/kit"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// TestNoDamageToAHeaderCostsTheConversation damages the header at each of its bytes. A file
// that can still be read shows the conversation; any other is rejected, left unchanged and
// can be salvaged.
// Proves: X-058, F-01
func TestNoDamageToAHeaderCostsTheConversation(t *testing.T) {
	t.Parallel()
	header, body, _ := strings.Cut(kit.Conversation(), "\n")
	files := []string{body, "\x00" + kit.Conversation(), "\n\n" + kit.Conversation()}
	for i := range len(header) {
		files = append(
			files,
			header[:i]+string(header[i]^1)+header[i+1:]+"\n"+body,
			header[:i]+"\x00"+header[i+1:]+"\n"+body,
			header[:i]+header[i+1:]+"\n"+body,
			header[:i]+"\n"+body,
			header[:i]+"\n"+header[i:]+"\n"+body,
		)
	}
	refused := 0
	for _, file := range files {
		fs := afero.NewMemMapFs()
		kit.Put(t, fs, kit.Filed, file)
		s := kit.NewStore(fs)
		l, err := s.Open(kit.Filed)
		if err == nil {
			require.Equal(t, []string{"one", "two"}, contextTexts(t, l), file)
			require.NoError(t, l.Close())
			require.Equal(t, file, kit.Content(t, fs, kit.Filed))
			continue
		}
		refused++
		require.Equal(t, fault.Damaged, fault.KindOf(err))
		n, err := s.Salvage(kit.Filed, "/out/saved.jsonl", "/w")
		require.NoError(t, err)
		require.GreaterOrEqual(t, n, 2, "a header of an unheard-of type may pass for an entry: %s", file)
		require.Equal(t, file, kit.Content(t, fs, kit.Filed))
		saved, err := s.Open("/out/saved.jsonl")
		require.NoError(t, err)
		require.Equal(t, []string{"one", "two"}, contextTexts(t, saved))
	}
	require.Greater(t, refused, len(header))
}

// TestAnEntryThatIsItsOwnParentIsReported: here such an entry is another root, but pi never
// leaves it. An entry replaced by a later one with its id is not visited.
func TestAnEntryThatIsItsOwnParentIsReported(t *testing.T) {
	t.Parallel()
	own := st.User("cccccccc", "cccccccc", "self")
	for name, c := range map[string]struct {
		lines []string
		want  []string
	}{
		"the leaf":        {[]string{own}, []string{"cccccccc"}},
		"above the leaf":  {[]string{own, st.User("dddddddd", "cccccccc", "below")}, []string{"cccccccc"}},
		"nowhere near":    {[]string{own, st.User("dddddddd", "bbbbbbbb", "elsewhere")}, []string{"cccccccc"}},
		"replaced":        {[]string{own, st.User("cccccccc", "bbbbbbbb", "instead")}, nil},
		"in another case": {[]string{st.User("CCCCCCCC", "cccccccc", "another")}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			doc, err := session.Parse([]byte(kit.Conversation() + st.File(c.lines...)))
			require.NoError(t, err)
			problems, err := doc.Check(session.AtLast(), nil)
			require.NoError(t, err)
			var told []string
			for _, p := range problems {
				if p.Kind == session.ParentCycle {
					told = append(told, p.EntryID)
				}
			}
			require.Equal(t, c.want, told)
		})
	}
}

// TestALineTornAnywhereCostsNothingButItself tears the last line at each of its bytes, as a
// crash or a full disk does, with and without the NULs that a power failure leaves, and
// appends after it.
// Proves, AB-075
func TestALineTornAnywhereCostsNothingButItself(t *testing.T) {
	t.Parallel()
	line := st.Assistant("cccccccc", "bbbbbbbb", `th"ree{[`)
	for i := range len(line) {
		for _, torn := range []string{line[:i], line[:i] + "\x00\x00\x00", line[:i] + strings.Repeat("\x00", len(line)-i) + "\n"} {
			fs := afero.NewMemMapFs()
			before := kit.Conversation() + torn
			kit.Put(t, fs, kit.Filed, before)
			l, err := kit.NewStore(fs).Open(kit.Filed)
			require.NoError(t, err)
			kit.MustAppend(t, l, kit.Say("user", "more"))
			kit.MustAppend(t, l, kit.Say("assistant", "and more"))
			require.NoError(t, l.Close())
			require.True(t, strings.HasPrefix(kit.Content(t, fs, kit.Filed), before))
			doc, err := session.Load(fs, kit.Filed)
			require.NoError(t, err)
			ctx, _, err := session.BuildContext(doc, session.AtLast(), nil)
			require.NoError(t, err)
			require.Equal(t, []string{"one", "two", "more", "and more"}, texts(ctx), "torn at byte %d", i)
			require.NoError(t, doc.Close())
		}
	}
}
