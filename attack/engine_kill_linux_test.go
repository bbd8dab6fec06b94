package attack

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/lsptest"
)

// engineKills returns how often each of the tests below kills something: 10 times, or 200 if XCSH_SOAK is set.
// XCSH_ENGINE_KILLS is another number.
func engineKills(t *testing.T) int {
	if s := os.Getenv("XCSH_ENGINE_KILLS"); s != "" {
		n, err := strconv.Atoi(s)
		require.NoError(t, err)
		return n
	}
	if os.Getenv("XCSH_SOAK") != "" {
		return 200
	}
	return 10
}

// killsPerHome bounds the size of each home directory, and killsPerSession that of each session.
const (
	killsPerHome    = 20
	killsPerSession = 5
)

// TestKilledEngine kills the program that answers, with SIGKILL, at random moments of a run with tools. TestKilledHost
// kills the server instead. Afterwards each session file must be whole, and have every entry whose id a client was sent.
// No process of the program or its tools may be left, and the session must continue with the next prompt.
//
// When the server is killed, the program ends by itself, with its commands. What has left the session of its command then
// lives on, as it does when the program runs in a terminal, so only TestKilledEngine starts such processes.
// Proves: EF-18, EF-19
func TestKilledEngine(t *testing.T) { testEngineKills(t, (*engineKiller).killEngine) }

// Proves: EF-20, EF-21
func TestKilledHost(t *testing.T) { testEngineKills(t, (*engineKiller).killHost) }

func testEngineKills(t *testing.T, round func(k *engineKiller)) {
	seed := uint64(1)
	if os.Getenv("XCSH_SOAK") != "" {
		seed = uint64(time.Now().UnixNano())
	}
	t.Log("seed", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	for name, install := range engines {
		t.Run(name, func(t *testing.T) {
			var sum killCounts
			for left := engineKills(t); left > 0; left -= killsPerHome {
				k := newEngineKiller(t, r, install)
				k.commandsMayStay = name != "double"
				for n := range min(left, killsPerHome) {
					if n%killsPerSession == 0 {
						k.session = ""
					}
					round(k)
					k.kills++
				}
				k.ed.Shutdown()
				k.ed.Exit()
				k.alone(0)
				k.check()
				sum.add(k.killCounts)
			}
			t.Logf("%d kills: %d before the first entry, %d while tools ran, %d in an answer, %d between them, %d after the run; %d entries were reported and found, %d commands were left",
				sum.kills, sum.early, sum.inTool, sum.inAnswer, sum.between, sum.late, sum.reported, sum.left)
			require.LessOrEqual(t, 5*sum.left, sum.kills, "commands are left more often than by a race")
			require.Positive(t, sum.reported)
			require.Positive(t, sum.inTool+sum.inAnswer+sum.between, "none hit a run")
		})
	}
}

// killCounts says where the kills have hit.
type killCounts struct {
	kills                                  int
	early, inTool, inAnswer, between, late int
	reported                               int // entries
	left                                   int // rounds after which a command was left
}

func (c *killCounts) add(more killCounts) {
	c.kills += more.kills
	c.early, c.inTool, c.inAnswer = c.early+more.early, c.inTool+more.inTool, c.inAnswer+more.inAnswer
	c.between, c.late, c.reported = c.between+more.between, c.late+more.late, c.reported+more.reported
	c.left += more.left
}

// engineKiller starts and kills engines and their servers on one machine.
type engineKiller struct {
	*victim
	killCounts
	r       *rand.Rand
	cmd     *exec.Cmd       // of the server
	ed      *lsptest.Editor // nil if none runs
	read    int             // messages of ed that were looked at
	session string          // the id of the live session, "" before its first event
	entries map[string]map[string]bool
	prompts int
	usual   time.Duration // the length of a run
	now     phase
	events  int // of the current run

	// commandsMayStay says that the program may leave the command that it starts while its input ends. Such a race of
	// the real pi is counted; nobody is left to end the command.
	commandsMayStay bool
}

// phase is what the last event of a run says.
type phase struct{ began, said, inTool, inAnswer, over bool }

func newEngineKiller(t *testing.T, r *rand.Rand, install func(v *victim) string) *engineKiller {
	k := &engineKiller{victim: newVictim(t), r: r, entries: map[string]map[string]bool{}, usual: 300 * time.Millisecond}
	dir := install(k.victim)
	require.NoError(t, os.MkdirAll(k.piSessions(), 0o700))
	k.pathBefore(dir)
	k.write(k.path("read.txt"), strings.Repeat("a line of text\n", 100))
	return k
}

// killEngine is a round of TestKilledEngine: the server lives on.
func (k *engineKiller) killEngine() {
	k.serve()
	prompt := k.begin(k.tools(true))
	k.wait(k.moment(prompt))
	pid := 0
	k.wait(func() (found bool) { // it may not have been started yet
		pid, found = k.engine()
		return found
	})
	k.hit()
	require.NoError(k.t, syscall.Kill(pid, syscall.SIGKILL))
	k.wait(func() bool { return k.answered(prompt) })
	k.alone(k.cmd.Process.Pid)
	k.check()
	k.goOn()
}

// killHost is a round of TestKilledHost.
func (k *engineKiller) killHost() {
	k.serve()
	text := k.tools(false)
	prompt := k.begin(text)
	k.wait(k.moment(prompt))
	k.hit()
	began := k.now.began
	k.ed.Interrupt()
	k.ed.Wait()
	k.look()
	k.ed = nil
	if k.commandsMayStay {
		k.left += k.clear()
	} else {
		k.alone(0)
	}
	k.check()
	k.serve()
	if began && !strings.Contains(k.texts(), label(text)) {
		require.Contains(k.t, strings.Join(k.offers(k.ed), "\n"), label(text), "the prompt is neither in a session nor offered")
	}
	k.goOn()
}

// serve starts a server if none runs, and opens the session.
func (k *engineKiller) serve() {
	k.t.Helper()
	if k.ed == nil {
		k.cmd, k.read = k.commandWithin(conversation), 0
		k.ed = k.editAs(k.cmd, lsptest.Fields{"approval": "yolo", "engine": "pi"}, lsptest.Fields{})
	}
	if k.session == "" {
		k.exec(k.ed, "xcsh.new", nil)
		return
	}
	if path := k.piFiles()[k.session]; path != "" {
		k.exec(k.ed, "xcsh.resume", lsptest.Fields{"target": path})
	}
}

// goOn continues the session.
func (k *engineKiller) goOn() {
	k.t.Helper()
	k.exec(k.ed, "xcsh.setEngine", lsptest.Fields{"engine": "pi"}) // it has failed often
	k.prompts++
	text := fmt.Sprintf("[[say:next-%d]]", k.prompts)
	began := time.Now()
	p := k.begin(text)
	k.wait(func() bool { return k.answered(p) })
	raw, failure := p.Wait()
	require.Nil(k.t, failure, "the session does not continue")
	require.Contains(k.t, string(raw), fmt.Sprintf("next-%d", k.prompts))
	require.Contains(k.t, string(raw), `"stopReason":"stop"`)
	k.usual = max(k.usual, time.Since(began))
	k.check()
}

// tools returns a prompt that makes the program run tools. hidden says whether a command leaves a process behind
// that has left its session.
func (k *engineKiller) tools(hidden bool) string {
	k.prompts++
	commands := []string{"echo one; sleep 0.05", "sleep 1000 & sleep 0.1; kill $!", "sleep 1000 & wait"}
	if hidden {
		commands = append(commands, "setsid sleep 1000 >/dev/null 2>&1 & sleep 0.1", "setsid sh -c 'trap : TERM HUP; while :; do sleep 1000; done' & sleep 0.1")
	}
	command := func() string {
		text, _ := json.Marshal(lsptest.Fields{"command": commands[k.r.IntN(len(commands))]})
		return fmt.Sprintf("[[tool:bash %s]]", text)
	}
	parts := []string{
		command(), command(), `[[tool:read {"path":"read.txt"}]]`,
		fmt.Sprintf(`[[tool:write {"path":"out-%d.txt","content":"x"}]]`, k.prompts),
	}
	k.r.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
	for _, more := range []string{"[[think]]", "[[par]]", "[[slow:1]]"} {
		if k.r.IntN(2) == 0 {
			parts = append(parts, more)
		}
	}
	return fmt.Sprintf("prompt-%d-end %s [[say:%s]]", k.prompts, strings.Join(parts, ""), strings.Repeat("word ", k.r.IntN(100)))
}

// label is the beginning of a prompt, which is unique.
func label(prompt string) string { return strings.Fields(prompt)[0] }

// begin sends a prompt.
func (k *engineKiller) begin(text string) *lsptest.Pending {
	k.t.Helper()
	k.look()
	k.now, k.events = phase{}, 0
	return k.ed.BeginExec("xcsh.prompt", lsptest.Fields{"text": text})
}

// moment returns a random condition: that a number of events has come, or that some time has passed. A command that does
// not end by itself has the time of a few runs.
func (k *engineKiller) moment(prompt *lsptest.Pending) func() bool {
	span, events := 3*k.usual, math.MaxInt
	switch k.r.IntN(6) {
	case 0: // while it starts
		span = time.Duration(k.r.Int64N(int64(k.usual / 4)))
	case 1:
		span = time.Duration(k.r.Int64N(int64(2 * k.usual)))
	default:
		events = 1 + k.r.IntN(60)
	}
	late := time.Now().Add(span)
	return func() bool { return k.answered(prompt) || time.Now().After(late) || k.events >= events }
}

// hit counts where a kill is about to hit.
func (k *engineKiller) hit() {
	k.look()
	switch {
	case k.now.over:
		k.late++
	case k.now.inTool:
		k.inTool++
	case k.now.inAnswer:
		k.inAnswer++
	case k.now.said:
		k.between++
	default:
		k.early++
	}
}

// wait waits for a condition.
func (k *engineKiller) wait(holds func() bool) {
	k.t.Helper()
	for late := time.Now().Add(deadline); !holds(); k.look() {
		require.True(k.t, time.Now().Before(late), "it did not happen")
		<-time.After(500 * time.Microsecond)
	}
}

// look reads the new messages of the server.
func (k *engineKiller) look() {
	messages := k.ed.Messages()
	for _, m := range messages[k.read:] {
		var p struct {
			SessionID string
			Event     struct{ Type, EntryID string }
		}
		if m.Method != "xcsh/event" || json.Unmarshal(m.Params, &p) != nil {
			continue
		}
		k.events++
		k.now.follow(p.Event.Type)
		if p.Event.EntryID == "" {
			continue
		}
		k.session = p.SessionID
		if k.entries[p.SessionID] == nil {
			k.entries[p.SessionID] = map[string]bool{}
		}
		k.entries[p.SessionID][p.Event.EntryID] = true
	}
	k.read = len(messages)
}

func (p *phase) follow(event string) {
	switch event {
	case "agent_start":
		p.began = true
	case "message_start":
		p.inAnswer = p.said
	case "message_end":
		p.said, p.inAnswer = true, false
	case "tool_execution_start":
		p.inTool = true
	case "tool_execution_end":
		p.inTool = false
	case "agent_end":
		p.over = true
	}
}

func (k *engineKiller) answered(p *lsptest.Pending) bool {
	id := strconv.Itoa(p.ID)
	return slices.ContainsFunc(k.ed.Messages(), func(m *lsptest.Message) bool { return m.Method == "" && string(m.ID) == id })
}

// check requires that each session file is whole and has the entries that were reported.
func (k *engineKiller) check() {
	k.t.Helper()
	files := k.piFiles()
	k.reported = 0
	for id, entries := range k.entries {
		require.Contains(k.t, files, id, "an entry was reported of a session without a file")
		doc := k.load(files[id])
		for entry := range entries {
			_, err := doc.Index(entry)
			require.NoError(k.t, err, "kill %d: entry %s was reported and is not in %s", k.kills, entry, files[id])
			k.reported++
		}
		require.NoError(k.t, doc.Close())
	}
	for id, path := range files {
		info, err := os.Stat(path)
		require.NoError(k.t, err)
		if k.entries[id] == nil && info.Size() > 0 { // it is empty if the engine was killed before its first write
			require.NoError(k.t, k.load(path).Close())
		}
	}
}

// texts returns the content of all session files.
func (k *engineKiller) texts() string {
	var all strings.Builder
	for _, path := range k.piFiles() {
		all.WriteString(k.victim.read(path))
	}
	return all.String()
}

// engine returns the process of the program that answers.
func (k *engineKiller) engine() (pid int, ok bool) {
	for pid, p := range k.processes() {
		if p.parent == k.cmd.Process.Pid && p.hosted {
			return pid, true
		}
	}
	return 0, false
}

// alone waits until no process of this machine runs except one.
func (k *engineKiller) alone(but int) {
	k.t.Helper()
	late := time.Now().Add(30 * time.Second)
	for {
		running := k.processes()
		delete(running, but)
		if len(running) == 0 {
			return
		}
		if time.Now().After(late) {
			for pid := range running {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
			require.Empty(k.t, slices.Collect(maps.Values(running)), "kill %d left these processes", k.kills)
		}
		<-time.After(5 * time.Millisecond)
	}
}

// clear waits until the program has ended, and ends a command that it left. It returns 1 if there was one.
func (k *engineKiller) clear() int {
	k.t.Helper()
	for late := time.Now().Add(10 * time.Second); time.Now().Before(late); <-time.After(5 * time.Millisecond) {
		if len(k.processes()) == 0 {
			return 0
		}
	}
	for pid, p := range k.processes() {
		require.Contains(k.t, p.String(), "sleep ", "only a command may be left")
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	k.alone(0)
	return 1
}

type runningProcess struct {
	parent int
	args   []byte
	hosted bool // it, or what started it, is an engine; pi changes its arguments
}

func (p runningProcess) String() string {
	return string(bytes.ReplaceAll(p.args, []byte{0}, []byte{' '}))
}

// processes returns the running processes that have the home directory of the victim, however they were started.
func (k *engineKiller) processes() map[int]runningProcess {
	found := map[int]runningProcess{}
	list, err := filepath.Glob("/proc/[0-9]*")
	require.NoError(k.t, err)
	for _, dir := range list {
		environ, err := os.ReadFile(filepath.Join(dir, "environ"))
		if err != nil || !bytes.Contains(environ, []byte("\x00HOME="+k.home+"\x00")) {
			continue // of another user, or gone, or a zombie
		}
		pid, _ := strconv.Atoi(filepath.Base(dir)) // it has digits only
		args, _ := os.ReadFile(filepath.Join(dir, "cmdline"))
		stat, err := os.ReadFile(filepath.Join(dir, "stat"))
		fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
		if err != nil || len(fields) < 2 || fields[0][0] == 'Z' {
			continue
		}
		parent, _ := strconv.Atoi(string(fields[1]))
		found[pid] = runningProcess{parent, args, bytes.Contains(environ, []byte("\x00XCSH_LS_HOST="))}
	}
	return found
}
