package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/internal/lsptest"
)

// Random programs of edits, commands, commits, edits of the user, rewinds, redos and keeps over the wire leave the tree that a model
// of whole trees expects, or are refused and change nothing. XCSH_LS_PROGRAMS sets their number.
// Proves: RW-16, RW-38
func TestRandomProgramsOfRewinds(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the programs use a Unix shell")
	}
	programs, steps := 2, 14
	if n, err := strconv.Atoi(os.Getenv("XCSH_LS_PROGRAMS")); err == nil {
		programs, steps = n, 40
	}
	for seed := range programs {
		t.Run(strconv.Itoa(seed), func(t *testing.T) {
			t.Parallel()
			p := newProgram(t, uint64(seed))
			for range steps {
				p.step()
			}
			require.Positive(t, p.rewound, "some rewind was carried out")
			require.Less(t, p.refused, max(2, p.rewound), "most rewinds are possible")
		})
	}
}

// op is a change of the session: of one of its lines in a.txt, "0" to "2", or of a file. Lines of the session and of the user never touch.
type op struct {
	key     string
	version int // 0: the file is removed
	undone  bool
}

// mark is a prompt and the number of changes before it.
type mark struct {
	prompt string
	before int
}

type program struct {
	*testing.T
	r    *rand.Rand
	dir  string
	ed   *lsptest.Editor
	ops  []op
	user [3]int // versions of the user's lines in a.txt
	past []mark
	redo []int // the changes that the newest rewind undid, while nothing else of the session has happened

	version, rewound, refused int
	log                       []string
}

func newProgram(t *testing.T, seed uint64) *program {
	t.Helper()
	m := newMachine(t, provider.AnthropicMessages)
	p := &program{T: t, r: rand.New(rand.NewPCG(seed, 7)), dir: m.work}
	p.write()
	p.git("init", "-q")
	p.git("add", "a.txt")
	p.git("-c", "user.name=u", "-c", "user.email=u@example.org", "commit", "-qm", "first")
	p.ed = m.demo()
	return p
}

func (p *program) git(args ...string) {
	p.Helper()
	c := exec.CommandContext(p.Context(), "git", args...)
	c.Dir = p.dir
	out, err := c.CombinedOutput()
	require.NoError(p, err, string(out))
}

// text is a.txt: every line that changes has fixed lines around it.
func (p *program) text() string {
	var b strings.Builder
	for i := range 3 {
		fmt.Fprintf(&b, "fixed u%d\nuser%d v%d\n", i, i, p.user[i])
	}
	for i := range 3 {
		fmt.Fprintf(&b, "fixed m%d\nsession%d v%d.\n", i, i, p.now()[strconv.Itoa(i)])
	}
	return b.String() + "end\n"
}

// now is the version of everything that the session changed: that of its newest change which counts.
func (p *program) now() map[string]int {
	now := map[string]int{}
	for _, o := range p.ops {
		if !o.undone {
			now[o.key] = o.version
		}
	}
	return now
}

// change notes a change of the session.
func (p *program) change(key string, version int) {
	p.ops, p.redo = append(p.ops, op{key: key, version: version}), nil
}

// write writes a.txt as the user does.
func (p *program) write() {
	p.Helper()
	require.NoError(p, os.WriteFile(filepath.Join(p.dir, "a.txt"), []byte(p.text()), 0o600))
}

// call runs a command whose failure is no surprise only if it may be refused.
func (p *program) call(name string, args lsptest.Fields) (json.RawMessage, *lsptest.Error) {
	p.Helper()
	return p.ed.BeginExec(name, args).WaitAnswering(func(r lsptest.Request) { r.Reply(nil) })
}

func (p *program) must(name string, args lsptest.Fields) json.RawMessage {
	p.Helper()
	raw, err := p.call(name, args)
	require.Nil(p, err, "%s %v after %v", name, args, p.log)
	return raw
}

func (p *program) step() {
	p.Helper()
	p.version++
	switch n := p.r.IntN(12); {
	case n < 4:
		p.edit(p.r.IntN(3))
	case n < 7:
		p.command()
	case n < 9:
		i := p.r.IntN(3)
		p.user[i] = p.version
		p.did("user line %d", i)
		p.write()
	case n == 9:
		p.must("xcsh.keep", lsptest.Fields{"all": true})
		p.did("keep")
	case n == 10 && p.redo != nil:
		p.redoes()
	case len(p.past) > 0:
		p.rewind(p.r.IntN(len(p.past)))
	}
	p.check()
}

func (p *program) did(format string, args ...any) {
	p.log = append(p.log, fmt.Sprintf(format, args...))
}

// edit has the model edit one of its lines.
func (p *program) edit(i int) {
	p.Helper()
	before := len(p.ops)
	old := fmt.Sprintf("session%d v%d.", i, p.now()[strconv.Itoa(i)])
	p.change(strconv.Itoa(i), p.version)
	p.did("edit %d", i)
	p.must("xcsh.prompt", lsptest.Fields{"text": fmt.Sprintf("edit a.txt: %s => session%d v%d.", old, i, p.version)})
	var c struct{ PromptID string }
	require.NoError(p, json.Unmarshal(p.must("xcsh.changes", nil), &c))
	require.NotEmpty(p, c.PromptID)
	p.past = append(p.past, mark{c.PromptID, before})
}

// command runs a command of the user, whose changes count as the session's.
func (p *program) command() {
	p.Helper()
	name := "c" + strconv.Itoa(p.r.IntN(3))
	line := ""
	switch there := p.now()[name] > 0; p.r.IntN(4) {
	case 0:
		i := p.r.IntN(3)
		line = fmt.Sprintf("sed -i 's/^session%d v.*/session%d v%d./' a.txt", i, i, p.version)
		p.change(strconv.Itoa(i), p.version)
	case 1:
		line = "git add -A && git -c user.name=u -c user.email=u@example.org commit -qm x --allow-empty"
	default:
		if there && p.r.IntN(2) == 0 {
			line = "rm " + name
			p.change(name, 0)
		} else {
			line = fmt.Sprintf("echo %d > %s", p.version, name)
			p.change(name, p.version)
		}
	}
	p.did("%s", line)
	var r struct{ ExitCode *int }
	require.NoError(p, json.Unmarshal(p.must("xcsh.bash", lsptest.Fields{"command": line}), &r))
	require.Equal(p, 0, *r.ExitCode, line)
}

// rewind goes back before a prompt; the user's lines stay.
func (p *program) rewind(i int) {
	p.Helper()
	p.did("rewind before prompt %d", i)
	_, err := p.call("xcsh.rewind", lsptest.Fields{"before": p.past[i].prompt, "dryRun": false, "acrossHead": true})
	var undone []int
	for n := p.past[i].before; n < len(p.ops); n++ {
		if !p.ops[n].undone {
			undone = append(undone, n)
		}
	}
	if err != nil && err.Kind() == "notFound" {
		require.Empty(p, undone, "%s after %v", err.Message, p.log)
		return
	}
	if p.refusal(err) {
		return
	}
	p.redo = undone
	p.set(undone, true)
	p.rewound++
}

func (p *program) set(ops []int, undone bool) {
	for _, n := range ops {
		p.ops[n].undone = undone
	}
}

func (p *program) redoes() {
	p.Helper()
	p.did("redo")
	_, err := p.call("xcsh.rewind", lsptest.Fields{"redo": "", "dryRun": false, "acrossHead": true})
	if p.refusal(err) {
		return
	}
	p.set(p.redo, false)
	p.redo = nil
}

// refusal reports whether a rewind was refused, which changes nothing.
func (p *program) refusal(err *lsptest.Error) bool {
	p.Helper()
	if err == nil {
		return false
	}
	require.Equal(p, "conflict", err.Kind(), "%s after %v", err.Message, p.log)
	p.refused++
	p.did("refused")
	return true
}

// check compares the folder with the model.
func (p *program) check() {
	p.Helper()
	content, err := os.ReadFile(filepath.Join(p.dir, "a.txt"))
	require.NoError(p, err)
	require.Equal(p, p.text(), string(content), "after %v", p.log)
	names, err := filepath.Glob(filepath.Join(p.dir, "c*"))
	require.NoError(p, err)
	want, got := map[string]int{}, map[string]int{}
	for key, version := range p.now() {
		if strings.HasPrefix(key, "c") && version > 0 {
			want[key] = version
		}
	}
	for _, path := range names {
		if name := filepath.Base(path); name != "a.txt" {
			content, err := os.ReadFile(path)
			require.NoError(p, err)
			got[name], err = strconv.Atoi(strings.TrimSpace(string(content)))
			require.NoError(p, err, name)
		}
	}
	require.Equal(p, want, got, "after %v", p.log)
}
