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

// asks reports whether a request is asked about.
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

func words(lines ...string) fixed {
	var rules fixed
	for _, l := range lines {
		exact := strings.HasSuffix(l, "$")
		rules = append(rules, approval.Rule{Words: strings.Fields(strings.TrimSuffix(l, "$")), Exact: exact})
	}
	return rules
}

func TestRulesOverCommands(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(root, "sub", ".git"), 0o700))
	require.NoError(t, os.Symlink("/etc", filepath.Join(root, "out")))
	rules := words("go test", "git status", "git diff", "ls", "cat", "grep", "find", "make lint$", "python3", "env", "sed")
	for _, c := range []struct {
		command string
		asks    bool
	}{
		{"go test ./...", false},
		{"go test", false},
		{"go 'test' \"./...\"", false},
		{"cat $FILE ${FILE} *.go", false},
		{"go test $PKG", true}, // what it stands for may be an argument that runs a program
		{"go test *.go", true},
		{"go testing", true},
		{"go vet ./...", true},
		{"./go test", true},
		{"make lint", false},
		{"make lint all", true},
		{"make lint $X", true},
		// Every program of the line counts.
		{"go test ./... && git status", false},
		{"go test ./... | grep FAIL; ls & cat x", false},
		{"if ls x; then cat x; else echo no; fi", false},
		{"(ls; { cat x; })", false},
		{"! ls", false},
		{"go test ./... && rm -rf /", true},
		{"go test | tee x", true},
		{"ls $(rm x)", true},
		{"ls `rm x`", true},
		{"ls \"$(rm x)\"", true},
		{"ls <(rm x)", true},
		{"ls $(git status)", false},
		{"cat <<E\n$(rm x)\nE", true},
		{"cat <<'E'\n$(rm x)\nE", false},
		{"ls\nrm x", true},
		{"ls # rm", false},
		// What cannot be seen.
		{"$CMD", true},
		{"\"$CMD\" test", true},
		{"g\\o test", true},
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
		{"while ls; do cat x; done", false},
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
		{"time ls", true},
		{"printf -v PATH x", true},
		{"read PATH; ls", true},
		{"ls (", true},
		{"", true},
		{"# nothing", true},
		{"find . -name x", false},
		{"find . -exec rm {} +", true},
		{"find . -delete", true},
		{"find . $X", true},
		// Where output goes.
		{"ls > /dev/null 2>&1", false},
		{"ls 2>&1 | cat", false},
		{"ls < x", false},
		{"ls > x", true},
		{"ls >| x", true},
		{"ls &> x", true},
		{"ls <> x", true},
		{"ls >& x", true},
		{"ls {fd}> /dev/null", true},
		// Other directories.
		{"cd sub && ls", false},
		{"cd " + root + "/sub; git status", false},
		{"cd .. && git status", true},
		{"cd / && ls", true},
		{"cd out && ls", true},
		{"cd sub/.git && ls", true},
		{"cd $X && ls", true},
		{"cd && ls", true},
		{"cd - && ls", true},
		{"cd sub && cd .. && ls", true},
		{"pushd sub && ls", true},
		{"echo a; pwd; true; :; exit 1", false},
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

// In a loop cd goes further with each round, here out of the folder with the second one.
func TestALoopThatLeavesTheFolder(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(root, "x"), 0o700))
	require.NoError(t, os.Symlink(t.TempDir(), filepath.Join(root, "x", "x"))) // as a repository may bring along
	require.True(t, asks(t, approval.Config{Root: root, Mode: approval.AutoEdit}, bash("while cd x; do echo text > profile; done")))
}

// The shell follows a link before it goes up, so that ".." is not where it seems to be.
func TestUpBehindALink(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(root, "packages", "app"), 0o700))
	require.NoError(t, os.Symlink("../..", filepath.Join(root, "packages", "app", "root"))) // leads to the folder itself
	for line, asked := range map[string]bool{
		"echo text > packages/app/root/../file":       true,
		"cd packages/app/root && echo text > ../file": true,
		"cd packages/app/root/.. && echo text > file": true,
		"echo text > packages/../file":                true,
		"echo text > packages/app/root/file":          false,
		"cd packages/app/root && echo text > file":    false,
	} {
		require.Equal(t, asked, asks(t, approval.Config{Root: root, Mode: approval.AutoEdit}, bash(line)), line)
	}
}

// A rule about the first words of a command does not allow arguments that run or write.
func TestArgumentsThatDoMore(t *testing.T) {
	t.Parallel()
	rules := words("rg", "git diff", "git log", "git grep", "git fetch", "git push", "go test", "go vet", "go build", "make test", "cargo test", "npm test", "file", "ls")
	for command, asked := range map[string]bool{
		"rg --pre ./x.sh needle":              true,
		"rg --pretty needle":                  false,
		"rg --hostname-bin=./x.sh needle":     true,
		"git diff --output=/home/u/.profile":  true,
		"git diff --outp=/home/u/.profile":    true,
		"git diff --ext-diff":                 true,
		"git diff --no-ext-diff -U10 -- file": false,
		"git diff *":                          true, // there may be a file called --output=x
		"git log -1 --format=x --output=y":    true,
		"git log --oneline -n5":               false,
		"git grep -O./x.sh needle":            true,
		"git grep -nO./x.sh needle":           true,
		"git grep --open=./x.sh needle":       true,
		"git fetch --upload-pack=./x.sh .":    true,
		"git fetch --upload ./x.sh .":         true,
		"git push --exec=./x.sh":              true,
		"git push -u origin main":             false,
		"go test -exec ./x.sh ./...":          true,
		"go test --exec=./x.sh ./...":         true,
		"go test -test.coverprofile=x":        true,
		"go test -run X -count=1 ./...":       false,
		"go test $(echo -exec ./x.sh)":        true,
		"go vet -vettool=./x.sh ./...":        true,
		"go build -toolexec ./x.sh":           true,
		"go build -o /home/u/.profile":        true,
		"make test SHELL=./x.sh":              true,
		"make test -j4 -k":                    false,
		"make test -kf x.mk":                  true,
		"make test --eval=x":                  true,
		"cargo test --config x":               true,
		"npm test --script-shell=./x.sh":      true,
		"npm test":                            false,
		"file -C -m x":                        true,
		"ls -C $X":                            false,
	} {
		require.Equal(t, asked, asks(t, approval.Config{Root: t.TempDir(), Mode: approval.Ask, Memory: rules}, bash(command)), command)
	}
}

func TestRulesThatAreOffered(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for command, want := range map[string]string{
		"go test ./...":              "go test …",
		"go test | grep x":           "go test …, grep …",
		"ls -l && ls":                "ls …",
		"git push --force":           "git push …",
		"rg needle":                  "rg needle",
		"git log --output=x":         "git log --output=x",
		"git clone x":                "git clone x",
		"go test *.go":               "go test *.go",
		"git -C / status":            "git -C / status",
		"git config core.pager less": "git config core.pager less",
		"npm run build":              "npm run build",
		"go run ./x":                 "go run ./x",
		"rm -rf build":               "rm -rf build",
		"rm -rf $X":                  "rm -rf $X",
		"bash -c ls":                 "bash -c ls",
		"X=1 go test":                "X=1 go test",
		"ls > x":                     "ls > x",
		"cd / && ls":                 "cd / && ls",
		"echo hi":                    "echo hi",
	} {
		g := approval.NewGate(approval.Config{Root: root, Mode: approval.Ask, Memory: fixed{}})
		var offered []string
		g.Attach(func(_ context.Context, p approval.Prompt) (approval.Decision, error) {
			for _, r := range p.Rules {
				offered = append(offered, r.String())
			}
			return approval.Session, nil
		})
		_, err := g.Ask(t.Context(), bash(command))
		require.NoError(t, err)
		if command == "echo hi" {
			require.Empty(t, offered, "not asked about")
			continue
		}
		require.Equal(t, want, strings.Join(offered, ", "), command)
		offered = nil
		_, err = g.Ask(t.Context(), bash(command))
		require.NoError(t, err)
		require.Empty(t, offered, "what was allowed is not asked about again: %s", command)
	}
}

// Arguments that the tool would understand in another way are not taken for the command.
func TestUnknownArgumentsAreAskedAbout(t *testing.T) {
	t.Parallel()
	cfg := approval.Config{Root: t.TempDir(), Mode: approval.Ask, Memory: words("ls")}
	r := bash("ls")
	require.False(t, asks(t, cfg, r))
	for _, args := range []string{`{"command":"ls","env":{"PATH":"."}}`, `{"command":"ls","command":"rm x"}`, `["ls"]`, ``, `{"Command":"ls"}`} {
		r.Args = json.RawMessage(args)
		require.True(t, asks(t, cfg, r), args)
	}
}
