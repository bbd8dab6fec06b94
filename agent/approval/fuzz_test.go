package approval

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"mvdan.cc/sh/v3/syntax"
)

// seeds are the commands of the tests' data.
func seeds(f *testing.F) {
	f.Helper()
	content, err := os.ReadFile("testdata/followups.txt")
	require.NoError(f, err)
	for line := range strings.Lines(string(content)) {
		if _, command, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			f.Add(command)
		}
	}
	for _, line := range []string{"cat <<E\n$(x)\nE", "echo \"$(<x)\"", "ls 2>&1 | head", "if [ -f x ]; then cat x; fi", "cd sub && ls", "echo ${PIPESTATUS[0]} $?"} {
		f.Add(line)
	}
}

// printers is a second list of all programs that may run without approval.
var printers = regexp.MustCompile(`^(ls|cat|tac|head|tail|wc|nl|rev|[ef]?grep|rg|find|fd|tree|stat|file|du|df|diff|cmp|comm|which|type|command|whereis|basename|dirname|realpath|readlink|` +
	`date|uname|whoami|id|groups|hostname|arch|nproc|uptime|free|lscpu|tty|locale|cal|(sha[0-9]*|md5|b2|ck)?sum|shasum|cksum|cut|tr|sort|uniq|paste|join|fold|column|expand|seq|od|xxd|` +
	`hexdump|strings|jq|sed|g?awk|zcat|unzip|git|go|node|npm|npx|yarn|pnpm|bun|deno|tsc|python3?|pip3?|uv|poetry|ruby|gem|bundle|php|perl|lua|cargo|rustc|rustup|javac?|mvn|dotnet|gcc|g\+\+|` +
	`cc|clang|make|cmake|ninja|docker|kubectl|terraform|helm|bash|zsh|gh|curl|n?vim|emacs|swift|zig|gofmt|echo|true|false|:|pwd|exit|printf|sleep|test|\[|cd|timeout)$`)

// FuzzUnasked checks the commands that run without approval with a second, independent parse of the
// line that does not use the table.
func FuzzUnasked(f *testing.F) {
	seeds(f)
	root := f.TempDir()
	f.Fuzz(func(t *testing.T, text string) {
		l := parse(text)
		p := policy{root: root, sandbox: true, mode: Ask}
		p.suggest(l)
		p.mentioned(l, scene{policy: p, dirs: []string{root}})
		if !p.reads(l) {
			return
		}
		file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
		require.NoError(t, err)
		syntax.Walk(file, func(n syntax.Node) bool {
			check(t, n)
			return true
		})
		for _, no := range []string{"/dev/tcp", "/dev/udp", "/proc/self", "id_rsa"} {
			require.False(t, strings.Contains(solid(text), "<"+no) || strings.Contains(solid(text), ">"+no), text)
		}
	})
}

// solid is a text without blanks, for a search that ignores the syntax.
func solid(text string) string { return strings.Join(strings.Fields(text), "") }

// check fails for a part of a line that must not run without approval.
func check(t *testing.T, n syntax.Node) {
	t.Helper()
	switch n := n.(type) {
	case *syntax.ProcSubst, *syntax.FuncDecl, *syntax.ForClause, *syntax.WhileClause, *syntax.CaseClause, *syntax.ArithmCmd, *syntax.ArithmExp,
		*syntax.TestClause, *syntax.DeclClause, *syntax.LetClause, *syntax.CoprocClause, *syntax.Assign, *syntax.ExtGlob:
		t.Fatalf("%T runs unasked", n)
	case *syntax.Stmt:
		require.False(t, n.Background || n.Coprocess || n.Disown)
	case *syntax.CmdSubst:
		require.False(t, len(n.Stmts) == 1 && n.Stmts[0].Cmd == nil, "$(<file)")
	case *syntax.ParamExp:
		require.True(t, n.Param.Value == "?" || n.Param.Value == "PIPESTATUS")
		require.True(t, n.Exp == nil && n.Repl == nil && n.Slice == nil && !n.Excl)
	case *syntax.CallExpr:
		var b strings.Builder
		require.NoError(t, syntax.NewPrinter().Print(&b, n.Args[0]))
		name := strings.NewReplacer(`'`, "", `"`, "", `\`, "").Replace(b.String())
		require.Regexp(t, printers, name)
	case *syntax.Redirect:
		require.NotContains(t, []syntax.RedirOperator{syntax.RdrIn, syntax.RdrInOut, syntax.DplIn}, n.Op)
		if n.Op == syntax.Hdoc || n.Op == syntax.DashHdoc || n.Op == syntax.WordHdoc {
			return
		}
		var b strings.Builder
		require.NoError(t, syntax.NewPrinter().Print(&b, n.Word))
		to := strings.NewReplacer(`'`, "", `"`, "", `\`, "").Replace(b.String())
		require.Contains(t, []string{"/dev/null", "1", "2"}, to)
	}
}

// FuzzRules looks for a line with additional programs that is allowed by a rule which was made for
// another line.
func FuzzRules(f *testing.F) {
	seeds(f)
	root := f.TempDir()
	f.Fuzz(func(t *testing.T, text string) {
		l := parse(text)
		p := policy{root: root, mode: Ask, rules: []Rule{{Command: []string{"git", "status"}}, {Words: []string{"make", "x"}, Exact: true}}}
		if !p.covered(l) {
			return
		}
		require.Empty(t, l.writes)
		for _, c := range l.calls {
			require.Contains(t, []string{"git", "make", "echo", "true", "false", ":", "pwd", "exit", "printf", "sleep", "test", "[", "timeout"}, c.words[0].text)
		}
	})
}

// FuzzQuoting compares the unquoted form of a word with that of the shell's parser.
func FuzzQuoting(f *testing.F) {
	for _, s := range []string{"a b", "it's", `"`, `\`, "*", "{a,b}", "~", "$x", "a\tb", "é", "-x", "[", "!"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		q, err := syntax.Quote(s, syntax.LangBash)
		if err != nil || !printable(s) || strings.HasPrefix(q, "$") || strings.Contains(s, "{") {
			return
		}
		l := parse("x " + q)
		require.False(t, l.opaque, q)
		words, ok := l.calls[0].plain()
		require.True(t, ok)
		require.Equal(t, []string{"x", s}, words)
	})
}
