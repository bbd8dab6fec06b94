package approval_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/approval"
)

// fixed is a memory that has some rules.
type fixed []approval.Rule

func (f fixed) Rules(string) ([]approval.Rule, error)     { return f, nil }
func (f fixed) Add(_ string, rules []approval.Rule) error { panic("not to be changed") }

func bash(command string) approval.Request {
	args, err := json.Marshal(map[string]any{"command": command, "timeout": 5})
	if err != nil {
		panic(err)
	}
	return approval.Request{ID: "call", Tool: "bash", Args: args}
}

// asks reports whether a request requires approval.
func asks(t *testing.T, cfg approval.Config, r approval.Request) bool {
	t.Helper()
	g := approval.NewGate(cfg)
	asked := false
	g.Attach(func(_ context.Context, p approval.Prompt) (approval.Decision, error) {
		asked = true
		return approval.Once, nil
	})
	_, err := g.Ask(t.Context(), r)
	require.NoError(t, err)
	return asked
}

// words are rules about programs of the table, or with the suffix "$" about exactly these words.
func words(lines ...string) fixed {
	var rules fixed
	for _, l := range lines {
		exact, ok := strings.CutSuffix(l, "$")
		if ok {
			rules = append(rules, approval.Rule{Words: strings.Fields(exact), Exact: true})
		} else {
			rules = append(rules, approval.Rule{Command: strings.Fields(l)})
		}
	}
	return rules
}

func TestRulesOverCommands(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(root, "sub", ".git"), 0o700))
	require.NoError(t, os.Symlink("/etc", filepath.Join(root, "out")))
	rules := words("go test", "git status", "git diff", "ls", "cat", "grep", "find", "make lint$", "python3$", "env$", "sed$", "tee x$")
	for _, c := range []struct {
		command string
		asks    bool
	}{
		{"go test ./...", false},
		{"go test", false},
		{"go 'test' \"./...\"", false},
		{"cat $FILE", true},
		{"cat ${FILE}", true},
		{"cat *.go", false},
		{"go test $PKG", true}, // its value may be an argument that runs a program
		{"go test *.go", true},
		{"go testing", true},
		{"go vet ./...", true},
		{"./go test", true},
		{"make lint", false},
		{"make lint all", true},
		{"make lint $X", true},
		// Every program of the line counts.
		{"go test ./... && git status", false},
		{"go test ./... | grep FAIL; ls", false},
		{"ls & cat x", true},
		{"if ls x; then cat x; else echo no; fi", false},
		{"(ls; { cat x; })", false},
		{"! ls", false},
		{"go test ./... && rm -rf /", true},
		{"go test | tee x", true}, // its input is not in its words
		{"tee x <<< text", true},
		{"(tee x) <<< text", true},
		{"go test | (tee x)", true},
		{"tee x", true}, // according to the table
		{"make lint | cat", false},
		{"ls | make lint", true},
		{"cd sub && make lint", true},
		{"ls $(rm x)", true},
		{"ls `rm x`", true},
		{"ls \"$(rm x)\"", true},
		{"ls <(rm x)", true},
		{"ls $(git status)", true},
		{"ls && echo \"$(git status)\"", false},
		{"cat <<E\n$(rm x)\nE", true},
		{"cat <<'E'\n$(rm x)\nE", false},
		{"cat <<E\ntext\nE", false},
		{"cat <<E\n$HOME\nE", true},
		{"ls\nrm x", true},
		{"ls # rm", false},
		// Commands that cannot be determined statically.
		{"$CMD", true},
		{"\"$CMD\" test", true},
		{"g\\o test", false},
		{"{go,x} test", true},
		{"g* test", true},
		{"~/go test", true},
		{"$'go' test", true},
		{"go $'test'", true},
		{"eval ls", true},
		{"bash -c ls", true},
		{"exec ls", true},
		{"command ls", true},
		{"source x", true},
		{". x", true},
		{"sudo ls", true},
		{"xargs ls", true},
		{"python3 -c 1", true},
		{"python3.12 x.py", true},
		{"/usr/bin/env ls", true},
		{"sed -n 1p x", true},
		{"PATH=. ls", true},
		{"PATH=.; ls", true},
		{"X=1 ls", true},
		{"export PATH=.; ls", true},
		{"declare PATH=.", true},
		{"ls() { rm x; }; ls", true},
		{"for PATH in .; do ls; done", true},
		{"while ls; do cat x; done", true},
		{"while cd sub; do ls; done", true},
		{"until cd sub; do ls; done", true},
		{"cd sub && while ls; do cat x; done", true},
		{"ls ${PATH:=x}", true},
		{"ls ${!x}", true},
		{"ls ${x@P}", true},
		{"ls ${x:-$(rm y)}", true},
		{"ls $((x=1))", true},
		{"((x=1)); ls", true},
		{"let x=1; ls", true},
		{"[[ -v x ]] && ls", true},
		{"test -v x && ls", true},
		{"coproc ls", true},
		{"time ls", false},
		{"printf -v PATH x", true},
		{"read PATH; ls", true},
		{"ls (", true},
		{"", true},
		{"# nothing", true},
		{"find . -name x", false},
		{"find . -exec rm {} +", true},
		{"find . -delete", true},
		{"find . $X", true},
		// Destinations of output.
		{"ls > /dev/null 2>&1", false},
		{"ls 2>&1 | cat", false},
		{"ls < x", true},
		{"ls > x", true},
		{"ls >| x", true},
		{"ls &> x", true},
		{"ls <> x", true},
		{"ls >& x", true},
		{"ls {fd}> /dev/null", true},
		// Other directories.
		{"cd sub && ls", false},
		{"cd " + root + "; git status", false},
		{"cd " + root + "/sub; git status", true}, // which may be a repository of its own
		{"cd sub; go test ./...", false},
		{"cd .. && git status", true},
		{"cd / && ls", true},
		{"cd out && ls", true},
		{"cd sub/.git && ls", false},
		{"cd sub/.git && git status", true},
		{"cd $X && ls", true},
		{"cd && ls", true},
		{"cd - && ls", true},
		{"cd sub && cd .. && ls", true},
		{"pushd sub && ls", true},
		{"echo a; pwd; true; :; exit 1", true}, // a line of these alone
		{"ls; echo a; pwd; true; :; exit 1", false},
		{"ls \u202e", true},
		{"ls\a", true},
		{strings.Repeat("(", 9000) + "ls" + strings.Repeat(")", 9000), true},
	} {
		got := asks(t, approval.Config{Root: root, Mode: approval.Ask, Memory: rules}, bash(c.command))
		require.Equal(t, c.asks, got, c.command)
	}
}

func TestOutputToFilesIsAnEdit(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(root, ".git"), 0o700))
	require.NoError(t, os.Mkdir(filepath.Join(root, "sub"), 0o700))
	require.NoError(t, os.Symlink("/etc", filepath.Join(root, "out")))
	for command, asked := range map[string]bool{
		"ls > x":                   false,
		"ls >> sub/new/x":          false,
		"ls > " + root + "/x":      false,
		"cd sub && ls > x":         false,
		"cd sub && ls > ../x":      true, // ../x of the folder itself is outside
		"ls > ../x":                true,
		"ls > .vscode/x":           true,
		"ls > .github":             true,
		"ls > /etc/x":              true,
		"ls > out/x":               true,
		"ls > .git/hooks/pre-push": true,
		"ls > .GIT/config":         true,
		"ls > $X":                  true,
		"ls > ~/x":                 true,
		"rm x > y":                 true,
	} {
		cfg := approval.Config{Root: root, Mode: approval.AutoEdit, Memory: words("ls")}
		require.Equal(t, asked, asks(t, cfg, bash(command)), command)
		cfg.Mode = approval.Ask
		require.True(t, asks(t, cfg, bash(command)), command)
		cfg.Memory = append(words("ls"), approval.Rule{Edit: true})
		require.Equal(t, asked, asks(t, cfg, bash(command)), command)
	}
}

// In a loop cd changes the directory in each round, here to one outside of the folder in the second
// one.
func TestALoopThatLeavesTheFolder(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(root, "x"), 0o700))
	require.NoError(t, os.Symlink(t.TempDir(), filepath.Join(root, "x", "x"))) // as a repository may bring along
	require.True(t, asks(t, approval.Config{Root: root, Mode: approval.AutoEdit}, bash("while cd x; do echo text > profile; done")))
}

// The shell follows a link before it goes up, so ".." can lead to another directory than it seems.
func TestUpBehindALink(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(root, "packages", "app"), 0o700))
	require.NoError(t, os.Symlink("../..", filepath.Join(root, "packages", "app", "root"))) // leads to the folder itself
	for line, asked := range map[string]bool{
		"echo text > packages/app/root/../file":       true,
		"cd packages/app/root && echo text > ../file": true,
		"cd packages/app/root/.. && echo text > file": true,
		"echo text > packages/../file":                false,
		"echo text > packages/app/root/file":          false,
		"cd packages/app/root && echo text > file":    false,
	} {
		require.Equal(t, asked, asks(t, approval.Config{Root: root, Mode: approval.AutoEdit}, bash(line)), line)
	}
}

func TestRulesThatAreOffered(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for command, want := range map[string]string{
		"go test ./...":                   goTest,
		"go test | grep x":                goTest + "; grep TEXT FILES inside this folder (reading only)",
		"cat x && cat y":                  "cat FILES inside this folder (reading only)",
		"git stash list":                  "git stash list (reading only)",
		"git branch":                      "git branch (reading only)",
		"git push --force":                "git push --force (exactly)",
		"git push origin main":            "git push origin main (exactly)",
		"rg needle":                       "rg TEXT FILES inside this folder (reading only)",
		"git log --output=x":              "git log --output=x (exactly)",
		"git clone x":                     "git clone x (exactly)",
		"go test *.go":                    "go test *.go (exactly)",
		"git -C / status":                 "git -C / status (exactly)",
		"git config core.pager less":      "git config core.pager less (exactly)",
		"npm run build":                   "npm run build (exactly)",
		"go run ./x":                      "go run ./x (exactly)",
		"rm -rf 'a b'":                    "rm -rf 'a b' (exactly)",
		"rm -rf $X":                       "rm -rf $X (exactly)",
		"bash -c ls":                      "bash -c ls (exactly)",
		"X=1 go test":                     "X=1 go test (exactly)",
		"ls > x":                          "ls > x (exactly)",
		"cd / && ls":                      "cd / && ls (exactly)",
		"echo hi":                         "echo hi (exactly)",
		"rm -rf .vscode":                  "",
		"echo x > .envrc":                 "",
		"echo x > /etc/x":                 "",
		"for f in .envrc; do rm $f; done": "",
		"ls \u202e":                       "",
	} {
		g := approval.NewGate(approval.Config{Root: root, Mode: approval.Ask, Memory: fixed{}})
		var offered []string
		asked := 0
		g.Attach(func(_ context.Context, p approval.Prompt) (approval.Decision, error) {
			asked++
			for _, r := range p.Rules {
				require.Equal(t, r.Text, r.String())
				offered = append(offered, r.Text)
			}
			return approval.Session, nil
		})
		for range 2 {
			_, err := g.Ask(t.Context(), bash(command))
			require.NoError(t, err)
		}
		require.Equal(t, want, strings.Join(offered, "; "), command)
		require.Equal(t, want == "", asked == 2, "an allowed command needs no further approval: %s", command)
	}
}

const goTest = "go test PACKAGES inside this folder, with -bench -benchmem -count -cover -failfast -json -parallel -race -run -short -shuffle -skip -tags -timeout -v only"

// Arguments that the tool would interpret in another way are not taken for the command.
func TestUnknownArgumentsRequireApproval(t *testing.T) {
	t.Parallel()
	cfg := approval.Config{Root: t.TempDir(), Mode: approval.Ask, Memory: words("ls")}
	r := bash("ls")
	require.False(t, asks(t, cfg, r))
	for _, args := range []string{`{"command":"ls","env":{"PATH":"."}}`, `{"command":"ls","command":"rm x"}`, `["ls"]`, ``, `{"Command":"ls"}`} {
		r.Args = json.RawMessage(args)
		require.True(t, asks(t, cfg, r), args)
	}
}
