package artifact_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
	"github.com/xcsh-ls/xcsh-ls/internal/sessiontest/kit"
)

func TestAnArtifactIsReadInParts(t *testing.T) {
	t.Parallel()
	const text = "one\ntwo\nthrée\n€uro 𝄞 end"
	st.RunStorage(t, func(t *testing.T, fs afero.Fs) {
		s := artifactStore(fs)
		keepArtifact(t, s, artifactSession, "bash", text)
		for limit := int64(1); limit < int64(len(text))+2; limit++ {
			var whole strings.Builder
			for at := int64(0); ; {
				part, err := dirOf(s, artifactSession).Read("0", at, limit)
				require.NoError(t, err)
				require.Equal(t, at, part.Offset)
				require.True(t, utf8.ValidString(part.Text))
				require.False(t, part.Binary)
				require.Equal(t, int64(len(text)), part.Bytes)
				require.LessOrEqual(t, len(part.Text), max(int(limit), utf8.UTFMax))
				whole.WriteString(part.Text)
				if part.Next == 0 {
					break
				}
				require.Greater(t, part.Next, at)
				at = part.Next
			}
			require.Equal(t, text, whole.String(), limit)
		}
	})
}

func TestWhereAPartBeginsAndEnds(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	s := artifactStore(fs)
	keepArtifact(t, s, artifactSession, "bash", "one\ntwo\nthr€e")
	for name, tc := range map[string]struct {
		offset, limit int64
		text          string
		at, next      int64
	}{
		"behind a line":                   {0, 6, "one\n", 0, 4},
		"exactly a line":                  {0, 8, "one\ntwo\n", 0, 8},
		"no line: not within a character": {8, 5, "thr", 8, 11},
		"all that is left":                {8, 100, "thr€e", 8, 0},
		"it begins within a character":    {12, 100, "e", 14, 0},
		"it begins with the character":    {11, 100, "€e", 11, 0},
		"at the end":                      {15, 10, "", 15, 0},
		"far behind the end":              {1 << 40, 10, "", 15, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			part, err := dirOf(s, artifactSession).Read("0", tc.offset, tc.limit)
			require.NoError(t, err)
			require.Equal(t, []any{tc.text, tc.at, tc.next}, []any{part.Text, part.Offset, part.Next})
		})
	}
}

// A file that is not text is marked as such, and its Text is valid text all the same.
func TestABinaryArtifact(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	s := artifactStore(fs)
	for name, content := range map[string]string{
		"nul.bin": "a\x00b", "latin.log": "caf\xe9 au lait", "tails.log": "\x80\x80\x80\x80\x80\x80", "half.log": "ends \xe2\x82",
	} {
		kit.Put(t, fs, artifactDir+"/"+name, content)
		var read int
		for at := int64(0); ; {
			part, err := dirOf(s, artifactSession).Read(name, at, 4)
			require.NoError(t, err)
			require.True(t, utf8.ValidString(part.Text))
			require.Equal(t, at, part.Offset, "no byte is left out")
			read++
			if at = part.Next; at == 0 {
				break
			}
			require.Less(t, read, 10)
		}
		part, err := dirOf(s, artifactSession).Read(name, 0, 100)
		require.NoError(t, err)
		require.True(t, part.Binary, name)
	}
}

func TestIdsThatAreNone(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	s := artifactStore(fs)
	keepArtifact(t, s, artifactSession, "bash", "x")
	kit.Put(t, fs, kit.StoreDir+"/secret", "secret")
	kit.Put(t, fs, artifactDir+"/.hidden", "secret")
	for _, id := range []string{"", ".", "..", "../secret", "artifact://../secret", "a\\b", "0.bash.log\x00", "/etc/passwd", "artifact://"} {
		_, err := dirOf(s, artifactSession).Read(id, 0, 10)
		require.True(t, fault.Is(err, fault.InvalidArgument), "%q: %v", id, err)
	}
	for _, id := range []string{"1", "00", ".hidden", "bash", strings.Repeat("x", 5000)} {
		_, err := dirOf(s, artifactSession).Read(id, 0, 10)
		require.True(t, fault.Is(err, fault.NotFound), "%q: %v", id, err)
	}
	part, err := dirOf(s, artifactSession).Read("0.bash.log", 0, 10)
	require.NoError(t, err)
	require.Equal(t, "0", part.ID)
}
