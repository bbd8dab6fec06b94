package gitremote

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// listed parses content and prints it as "git config --list -z" does.
func listed(content []byte) (string, error) {
	var out strings.Builder
	err := parse(content, func(v variable) error {
		out.WriteString(v.section)
		if v.hasSub {
			out.WriteString("." + v.sub)
		}
		if v.section != "" || v.hasSub {
			out.WriteString(".")
		}
		out.WriteString(v.name)
		if v.hasValue {
			out.WriteString("\n" + v.value)
		}
		out.WriteString("\x00")
		return nil
	})
	return out.String(), err
}

// configs are files that git reads, or refuses.
var configs = []string{
	"", "\n", "[core]", "[core]\n\tbare = false\n", "[core]bare", "[core]\nbare\n[x]\ny=z",
	"\xEF\xBB\xBF[core]\nbare = true", "\xEF\xBB\xBF", "\xEF\xBB",
	"[remote \"origin\"]\r\n\turl = git@github.com:a/b.git\r\n\tfetch = +refs/heads/*:refs/remotes/origin/*\r\n",
	"[remote \"o\\\"r\\\\i\\gin\"]\nurl=x", "[Remote \"Origin\"] URL = X ; comment", "[remote.Origin]\nurl = a#b",
	"[a \"b\" ]\nc=d", "[a\"b\"]\nc=d", "[a  \t \"b\"]\nc=d", "[a \"b\nc\"]\nd=e", "[a.b \"C\"]\nd=e", "[a.b.c]\nd=e", "[a.]\nd=e", "[a \"\"]\nd=e", "[.]\nd=e", "[]\nd=e",
	"[a]\nb = \"c d\"  e   f  # g", "[a]\nb = c \\\n  d", "[a]\nb = \\t\\n\\b\\\\\\\"", "[a]\nb = \\x", "[a]\nb = \"open\n", "[a]\nb = \"o\\\npen\"", "[a]\nb=c\\",
	"[a]\n1b = c", "[a]\nb_c = d", "[a]\nb-c = d", "[a]\nb c = d", "[a]\n-b=c", "[a", "[a b]", "]", "=", "a=b", "[a]\nb==c", "[a]\nb = ;c", "[a]\nb = \";c\"",
	"# only\n; comments", "[a]\nb = c\r", "[a]\nb\t= c", "[a]\nb = \xff\xfe", "[\xff]\nb=c", "[a \"\xff\"]\nb=c",
}

func TestParseReadsWhatGitReads(t *testing.T) {
	t.Parallel()
	git(t)
	for _, content := range configs {
		requireAsGit(t, []byte(content))
	}
	_, err := listed([]byte("[a]\nb=\x00"))
	require.ErrorIs(t, err, errSyntax)
}

// git skips the test where git is not installed.
func git(t testing.TB) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
}

func requireAsGit(t *testing.T, content []byte) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config")
	require.NoError(t, os.WriteFile(path, content, 0o600))
	cmd := exec.CommandContext(t.Context(), "git", "config", "--file", path, "--no-includes", "--list", "-z")
	want, gitErr := cmd.Output()
	got, err := listed(content)
	if gitErr != nil {
		require.Error(t, err, "git refuses %q", content)
		return
	}
	require.NoError(t, err, "%q", content)
	require.Equal(t, string(want), got, "%q", content)
}

// FuzzParse reads arbitrary files: no panic, and the result of git where that runs.
func FuzzParse(f *testing.F) {
	git(f)
	for _, content := range configs {
		f.Add([]byte(content))
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		_, _ = listed(content)
		// Versions of git differ in white space inside of a value, and a zero byte ends its strings.
		if bytes.ContainsAny(content, "\x00\t\r") || len(content) > 4096 {
			return
		}
		requireAsGit(t, content)
	})
}
