//go:build peers && unix

package pi

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/tool"
)

// editCase is a file and its edits.
type editCase struct {
	Was   string           `json:"was"`
	Edits []map[string]any `json:"edits"`
}

// pieces are what the texts of the cases are made of: everything that pi treats in a special way.
var pieces = []string{"a", "b", "ab", "\n", "\r\n", "\r", " ", "  \n", "\t", "“", "\"", "’", "'", "—", "-", "\u00a0", "ﬁ", "fi", "é", "e\u0301", "😀", "\u2028", "\ufeff", "x\n"}

func someText(r *rand.Rand, n int) string {
	var b strings.Builder
	for range n {
		b.WriteString(pieces[r.IntN(len(pieces))])
	}
	return b.String()
}

func someCase(r *rand.Rand) editCase {
	c := editCase{Was: someText(r, r.IntN(30))}
	for range 1 + r.IntN(3) {
		old := someText(r, 1+r.IntN(3))
		if runes := []rune(c.Was); r.IntN(4) > 0 && len(runes) > 0 {
			from := r.IntN(len(runes))
			old = string(runes[from : from+1+r.IntN(min(8, len(runes)-from))])
		}
		if r.IntN(3) == 0 {
			old = folded(old)
		}
		c.Edits = append(c.Edits, map[string]any{"oldText": old, "newText": someText(r, r.IntN(4))})
	}
	return c
}

// Edits are computed as pi computes them, so that the user is shown what will be written.
func TestRealPiComputesTheSameEdits(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	source, err := os.ReadFile(filepath.Join(filepath.Dir(filepath.Dir(w.program.Args[0])), "core", "tools", "edit-diff.js"))
	require.NoError(t, err)
	imports := regexp.MustCompile(`(?m)^import .*$`)
	w.file("edit.mjs", imports.ReplaceAllString(string(source), "")+`
let input = "";
for await (const chunk of process.stdin) input += chunk;
process.stdout.write(JSON.stringify(JSON.parse(input).map(({ was, edits }) => {
	const bom = was.startsWith("\uFEFF") ? "\uFEFF" : "";
	const content = was.slice(bom.length), normal = normalizeToLF(content);
	try {
		const { newContent, replacements } = applyEditsToNormalizedContent(normal, edits, "f");
		return bom + (content === normal ? newContent : applyReplacementsToOriginal(content, replacements));
	} catch { return null; }
})));
`)
	r := rand.New(rand.NewPCG(1, 2))
	cases := make([]editCase, 3000)
	for i := range cases {
		cases[i] = someCase(r)
	}
	input, err := json.Marshal(cases)
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), w.program.Path, filepath.Join(w.cwd, "edit.mjs"))
	cmd.Stdin, cmd.Stderr = bytes.NewReader(input), os.Stderr
	output, err := cmd.Output()
	require.NoError(t, err)
	var want []*string
	require.NoError(t, json.Unmarshal(output, &want))
	applied := 0
	for i, c := range cases {
		args, err := json.Marshal(map[string]any{"path": "f", "edits": c.Edits})
		require.NoError(t, err)
		edit, err := decodeEdit(args)
		require.NoError(t, err)
		got, err := edit.apply(tool.File{Exists: true, Content: []byte(c.Was)})
		if want[i] == nil {
			require.Error(t, err, "%q %q: %q", c.Was, c.Edits, got)
			continue
		}
		require.NoError(t, err, "%q %q", c.Was, c.Edits)
		require.Equal(t, *want[i], string(got), "%q %q", c.Was, c.Edits)
		applied++
	}
	require.Greater(t, applied, len(cases)/20)
}
