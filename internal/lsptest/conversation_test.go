package lsptest

import (
	"context"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"
	"golang.org/x/tools/txtar"

	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/lsp"
)

type copyArgs struct {
	From string `json:"from"`
}

type copied struct {
	To string `json:"to"`
}

func copyServer(_ testing.TB, fs afero.Fs) lsp.Options {
	return lsp.Options{
		Commands: commands.NewTable(commands.New(commands.Spec{Name: "test.copy"}, runCopy)),
		Open: func(context.Context, lsp.Settings, lsp.Client) (lsp.Backend, error) {
			return lsp.Backend{Fs: fs}, nil
		},
	}
}

func runCopy(ctx context.Context, env *commands.Env, a copyArgs) (copied, error) {
	i, err := env.UI.Ask(ctx, commands.Question{Text: "Copy?", Choices: []string{"Yes", "No"}})
	if i != 0 || err != nil {
		return copied{}, err
	}
	data, err := afero.ReadFile(env.Fs, a.From)
	if err != nil {
		return copied{}, err
	}
	env.UI.Notify(ctx, commands.LevelInfo, "copied")
	return copied{a.From + ".copy"}, afero.WriteFile(env.Fs, a.From+".copy", data, 0o600)
}

func TestConversation(t *testing.T) {
	t.Parallel()
	RunConversation(t, "testdata/ask.txtar", copyServer)
}

const conversationHead = `
-- client --
{"id":1,"method":"initialize","params":{}}
-- server --
{"id":1,"result":{"$file":"initialize"}}
-- client --
{"id":2,"method":"made/up"}
`

// Differences are reported and corrected in the archive.
func TestConversationDiffers(t *testing.T) {
	t.Parallel()
	const answer = `{"id":2,"error":{"code":-32601,"message":"The method \"made/up\" is not supported.","data":{"kind":"methodNotFound"}}}` + "\n"
	const otherOrder = `{"error":{"data":{"kind":"<path>"},"message":"The method \"made/<path>\" is not supported.","code":"<number>"},"id":2}` + "\n"
	for name, tc := range map[string]struct {
		end, want string
		problems  int
	}{
		"as expected":    {"-- server --\n" + answer, "-- server --\n" + answer, 0},
		"another order":  {"-- server --\n" + otherOrder, "-- server --\n" + otherOrder, 0},
		"another code":   {"-- server --\n" + strings.Replace(answer, "-32601", "1", 1), "-- server --\n" + answer, 1},
		"one too many":   {"-- server --\n" + answer + answer, "-- server --\n" + answer, 1},
		"empty":          {"-- server --\n", "-- server --\n" + answer, 1},
		"no section":     {"", "", 1},
		"a missing file": {"-- server --\n" + answer + "-- fs.after/x --\ny\n", "-- server --\n" + answer + "-- fs.after/x --\ny\n", 1},
		"other files":    {"-- server --\n" + answer + "-- fs.after --\n/x\n", "-- server --\n" + answer + "-- fs.after --\n", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, err := parseConversation([]byte(conversationHead+tc.end), "testdata")
			require.NoError(t, err)
			require.Len(t, c.play(t, copyServer), tc.problems)
			require.Equal(t, conversationHead+tc.want, string(txtar.Format(c.archive)))
		})
	}
}

func TestConversationThatCannotBeRead(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"-- client --\n{\n", "-- sever --\n{}\n", "-- server --\n{\"result\":\"<any>\"}\n"} {
		_, err := parseConversation([]byte(text), "testdata")
		require.Error(t, err)
	}
}
