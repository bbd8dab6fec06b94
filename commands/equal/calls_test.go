package equal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
)

// args are the arguments of a command.
type args = map[string]any

// excluded are the commands whose answers are not compared, with the reasons.
var excluded = map[string]string{
	"xcsh.new":            "begins a session without entries",
	"xcsh.share":          "uploads what xcsh.export writes",
	"xcsh.purge":          "removes sessions by what xcsh.list returns",
	"xcsh.prompt":         "needs a model; the suite of package agent runs with index files",
	"xcsh.compact":        "needs a model; the suite of package agent runs with index files",
	"xcsh.steer":          "needs a running turn",
	"xcsh.followUp":       "needs a running turn",
	"xcsh.editQueued":     "needs a running turn",
	"xcsh.abort":          "needs a running turn",
	"xcsh.approve":        "needs a running turn",
	"xcsh.bash":           "starts a process, whose times are part of the answer",
	"xcsh.stopBackground": "needs a process",
	"xcsh.history":        "reads the prompt history only",
	"xcsh.forget":         "changes the prompt history only",
	"xcsh.models":         "reads no session",
	"xcsh.providers":      "reads no session",
	"xcsh.setup":          "reads the files of a set-up, of no session",
	"xcsh.mcp":            "reads no session",
	"xcsh.commandsList":   "reads the files of a set-up, of no session",
	"xcsh.trust":          "reads the files of a set-up, of no session",
	"xcsh.setKey":         "reads no session",
	"xcsh.engines":        "reads no session",
	"xcsh.commands":       "reads no session",
	"xcsh.login":          "reads no session",
	"xcsh.setEngine":      "writes no entry",
	"xcsh.answer":         "needs an engine with an extension that asks",
	"xcsh.setModel":       "needs a model; xcsh.setMode writes in the same way",
	"xcsh.setThinking":    "needs a model; xcsh.setMode writes in the same way",
	"xcsh.setApproval":    "writes no entry",
	"xcsh.change":         "needs recorded changes of files; the suite of package agent runs with index files",
	"xcsh.rewind":         "needs recorded changes of files; the suite of package agent runs with index files",
	"xcsh.keep":           "needs recorded changes of files; the suite of package agent runs with index files",
	"xcsh.team.share":     "needs a team store",
	"xcsh.team.follow":    "needs a team store",
	"xcsh.team.unshare":   "needs a team store",
	"xcsh.team.undelete":  "needs a team store",
	"xcsh.team.take":      "needs a team store",
	"xcsh.team.status":    "reads no session",
	"xcsh.chooseBranch":   "needs two branches that the server has seen; the suite of package agent runs with index files",
}

// answers are the results of calls, in order.
type answers struct {
	calls   []string
	results []string
}

// script makes the calls of one comparison. It draws from its random numbers only what does not depend on answers.
type script struct {
	*world
	r    *rand.Rand
	s    *subject
	file string
	ids  []string
	extent
	more *st.Random
	got  answers
}

func newScript(w *world, s *subject, e extent) *script {
	x := &script{world: w, r: rand.New(rand.NewPCG(s.seed, 11)), s: s, file: s.file(w), extent: e}
	for line := range bytes.Lines(s.content) {
		var e struct{ ID string }
		if json.Unmarshal(line, &e) == nil && e.ID != "" {
			x.ids = append(x.ids, e.ID)
		}
	}
	x.ids = append(x.ids, "missing")
	x.more = &st.Random{Rand: x.r, IDs: x.ids[:len(x.ids)-1], N: 1 << 20}
	for i, program := range programs {
		if program == s.program {
			x.more.Dialect = i
		}
	}
	return x
}

func (x *script) id() string { return x.ids[x.r.IntN(len(x.ids))] }

// modified is the time of a file in an answer.
var modified = regexp.MustCompile(`"modified":"[^"]*","timeAgo":"[^"]*"`)

// problems are those of an xcsh.context.
var problems = regexp.MustCompile(`,"problems":\[.*\]\}$`)

// record adds an answer, without the times of files.
func (x *script) record(call, result string) {
	x.got.calls = append(x.got.calls, call)
	x.got.results = append(x.got.results, modified.ReplaceAllString(result, `"modified":"then"`))
}

// settle gives all session files times that don't depend on when they were written, because lists are ordered by them.
func (x *script) settle() {
	x.Helper()
	n := 0
	require.NoError(x, filepath.WalkDir(x.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".jsonl") || d.IsDir() {
			return err
		}
		n++
		at := written.Add(time.Duration(n) * time.Second)
		return os.Chtimes(path, at, at)
	}))
}

// call runs a command with the index files of the variant.
func (x *script) call(name string, a args) string {
	x.Helper()
	x.restore()
	result := x.run(name, a)
	if name == "xcsh.context" && x.s.program == ".pi" && len(a) == 1 && a["source"] != nil {
		// A large file of pi is read from the end, so that problems before the context are not found.
		result = problems.ReplaceAllString(result, "")
	}
	x.record(fmt.Sprint(name, " ", a), result)
	return result
}

// read is call for commands that change nothing, some of which are left out.
func (x *script) read(name string, a args) {
	x.Helper()
	if x.r.Float64() < x.wanted {
		x.call(name, a)
	}
}

// pages asks for all pages.
func (x *script) pages(name string, a args, cursor func(result string) string) {
	x.Helper()
	if x.r.Float64() >= x.wanted {
		return
	}
	for range 300 {
		next := cursor(x.call(name, a))
		if next == "" {
			return
		}
		delete(a, "around")
		delete(a, "before")
		a["cursor"] = next
	}
}

func next(result string) string {
	var r struct{ Next string }
	_ = json.Unmarshal([]byte(result), &r) // an error has none
	return r.Next
}

func older(result string) string {
	var r struct{ Older struct{ Cursor string } }
	_ = json.Unmarshal([]byte(result), &r) // an error has none
	return r.Older.Cursor
}

// written is call for a command that writes a file, which is then removed.
func (x *script) written(name string, a args) {
	x.Helper()
	if x.r.Float64() >= x.wanted {
		return
	}
	var r struct{ Path string }
	_ = json.Unmarshal([]byte(x.call(name, a)), &r) // an error has none
	if r.Path != "" {
		content, err := os.ReadFile(r.Path)
		require.NoError(x, err)
		x.record("the file of "+name, string(content))
		require.NoError(x, os.Remove(r.Path))
	}
}

// reads makes the calls that read a session. of names it; without it, it is the live one.
func (x *script) reads(of args) {
	x.Helper()
	with := func(more args) args {
		a := args{}
		for _, m := range []args{of, more} {
			maps.Copy(a, m)
		}
		return a
	}
	n := func(most int) int { return 1 + x.r.IntN(most) }
	for _, name := range []string{"xcsh.info", "xcsh.stats", "xcsh.context", "xcsh.messages", "xcsh.entries", "xcsh.tree", "xcsh.dump", "xcsh.doctor", "xcsh.exists", "xcsh.artifacts", "xcsh.changes"} {
		x.read(name, with(nil))
	}
	x.read("xcsh.artifact", with(args{"id": "0"}))
	x.read("xcsh.context", with(args{"leafId": x.id()}))
	x.read("xcsh.context", with(args{"leafId": x.id()}))
	x.read("xcsh.context", with(args{"leafId": nil}))
	x.pages("xcsh.context", with(args{"maxBytes": 2000 + n(20_000)}), next)
	x.read("xcsh.messages", with(args{"around": x.id(), "limit": n(20)}))
	x.read("xcsh.messages", with(args{"after": x.id(), "limit": n(20)}))
	x.read("xcsh.messages", with(args{"query": "say 1", "limit": n(20)}))
	x.pages("xcsh.messages", with(args{"limit": 20 + n(50)}), older)
	x.read("xcsh.entries", with(args{"since": x.id()}))
	x.pages("xcsh.entries", with(args{"limit": 30 + n(50)}), next)
	x.read("xcsh.tree", with(args{"fold": true}))
	x.read("xcsh.tree", with(args{"under": x.id(), "fold": x.r.IntN(2) == 0}))
	x.pages("xcsh.tree", with(args{"limit": 30 + n(50), "fold": x.r.IntN(2) == 0}), next)
	x.read("xcsh.dump", with(args{"redact": false, "raw": true}))
	for _, format := range []string{"html", "markdown", "text", "jsonl", "agentBase"} {
		x.written("xcsh.export", with(args{"format": format, "path": x.path("out", "exported."+format), "redact": x.r.IntN(4) > 0}))
	}
	x.written("xcsh.transcript", with(nil))
}

// lists makes the calls about several sessions.
func (x *script) lists() {
	x.Helper()
	x.settle()
	name := strings.TrimSuffix(filepath.Base(x.file), ".jsonl")
	for _, a := range []args{
		{},
		{"scope": "all", "includeEmpty": true},
		{"scope": "all", "query": "say"},
		{"scope": "all", "limit": 1},
	} {
		x.read("xcsh.list", a)
	}
	x.read("xcsh.recent", args{})
	x.read("xcsh.resolve", args{"target": name, "scope": "all"})
	x.read("xcsh.resolve", args{"target": x.file})
	x.read("xcsh.import", args{"paths": []string{x.file}, "dryRun": true})
}

// append appends lines as another program does.
func (x *script) append(n int) {
	x.Helper()
	var more bytes.Buffer
	for range n {
		more.WriteString(x.more.Line() + "\n")
	}
	x.put(x.liveFile(), more.Bytes())
}

// liveFile returns the file of the live session.
func (x *script) liveFile() string {
	var r struct{ SessionFile string }
	_ = json.Unmarshal([]byte(x.run("xcsh.state", nil)), &r) // an error has none
	if r.SessionFile == "" {
		return x.file
	}
	return r.SessionFile
}

// rewrite replaces the live session's file without some of its lines.
func (x *script) rewrite() {
	x.Helper()
	path := x.liveFile()
	content, err := os.ReadFile(path)
	require.NoError(x, err)
	if lines := bytes.SplitAfter(content, []byte("\n")); len(lines) > 8 {
		content = bytes.Join(append(lines[:len(lines)-5:len(lines)-5], lines[len(lines)-3:]...), nil)
	}
	require.NoError(x, os.WriteFile(path+".new", content, 0o600))
	require.NoError(x, errors.Join(os.Rename(path+".new", path), os.Chtimes(path, written, written)))
}

// lives makes the session the live one, and changes it in every way.
func (x *script) lives() {
	x.Helper()
	x.open()
	x.call("xcsh.resume", args{"target": x.file, "onOtherProject": "open"})
	look := func() {
		x.call("xcsh.state", nil)
		x.read("xcsh.snapshot", nil)
		x.read("xcsh.snapshot", args{"last": 1 + x.r.IntN(30)})
		x.read("xcsh.context", nil)
		x.read("xcsh.stats", nil)
	}
	look()
	x.reads(nil)
	x.append(1 + x.r.IntN(40))
	look()
	x.call("xcsh.branch", args{"entryId": x.id()})
	look()
	x.call("xcsh.label", args{"entryId": x.id(), "label": "here"})
	x.call("xcsh.describe", args{"text": "a description"})
	x.call("xcsh.rename", args{"title": "Another title"})
	x.call("xcsh.setMode", args{"mode": "plan"})
	look()
	x.append(x.r.IntN(5))
	x.reads(nil)
	x.rewrite()
	look()
	x.call("xcsh.fork", args{"entryId": x.id(), "position": "at"})
	look()
	x.call("xcsh.resume", args{"target": x.file, "onOtherProject": "open"})
	x.call("xcsh.fork", nil)
	look()
	x.call("xcsh.save", args{"title": "Saved"})
	x.call("xcsh.move", args{"to": x.path("v")})
	x.open() // the server starts again
	x.settle()
	x.call("xcsh.continue", nil)
	look()
	x.call("xcsh.fork", args{"source": x.file})
	x.call("xcsh.import", args{"paths": []string{x.file}})
	x.call("xcsh.label", args{"entryId": x.id(), "label": "again"})
	look()
	var r struct{ Trashed string }
	_ = json.Unmarshal([]byte(x.call("xcsh.delete", args{"source": x.file, "confirm": true})), &r) // an error has none
	x.call("xcsh.trash", args{"scope": "all"})
	x.call("xcsh.undelete", args{"trashed": r.Trashed})
	_ = json.Unmarshal([]byte(x.call("xcsh.delete", args{"source": x.file, "confirm": true})), &r)
	x.call("xcsh.deleteTrashed", args{"trashed": r.Trashed, "confirm": true})
	x.lists()
	x.closeEnv()
}

// all makes all calls and returns the answers, and the files at the end.
func (x *script) all() (answers, map[string]string) {
	x.Helper()
	x.open()
	x.reads(args{"source": x.file})
	x.lists()
	if x.live {
		x.lives()
	}
	return x.got, x.files()
}
