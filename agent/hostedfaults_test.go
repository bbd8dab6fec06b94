//go:build unix

package agent_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/approval"
	"github.com/xcsh-ls/xcsh-ls/agent/engine"
	"github.com/xcsh-ls/xcsh-ls/agent/engine/enginetest"
	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
	"github.com/xcsh-ls/xcsh-ls/internal/racetest"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// soon is how long something may take on a busy machine.
const soon = time.Minute

// roles returns the roles and the reasons of the answers in a session file, none of whose lines may be damaged.
func roles(t *testing.T, path string) (list []string) {
	t.Helper()
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	for line := range strings.Lines(string(raw)) {
		var e struct {
			Type    string
			Message struct{ Role, StopReason string }
		}
		require.NoError(t, json.Unmarshal([]byte(line), &e))
		if e.Type == "message" && e.Message.Role != "system" {
			list = append(list, strings.TrimSuffix(e.Message.Role+"/"+e.Message.StopReason, "/"))
		}
	}
	return list
}

// background sends a prompt and waits until an event of a type has come.
func background[E event.Event](t *testing.T, w *world, s *agent.Session, text string) <-chan error {
	t.Helper()
	done := make(chan error, 1)
	go func() {
		_, err := s.Prompt(context.Background(), agent.Input{Text: text})
		done <- err
	}()
	require.Eventually(t, func() bool { return len(runEvents[E](w)) > 0 }, soon, time.Millisecond)
	return done
}

// Proves: EF-14
func TestAProcessThatSendsMoreThanCanBeRead(t *testing.T) {
	t.Parallel()
	racetest.Large(t)
	w, cwd := piWorld(t, approval.Yolo)
	s := w.live(t, cwd)
	_, err := s.Prompt(t.Context(), agent.Input{Text: "[[fault:line:70]] [[say:one]]"})
	require.EqualError(t, err, "pi sent more than can be read at once.")
	require.Equal(t, []string{"user"}, roles(t, s.File()))
	require.NoError(t, s.View(func(d *session.Document, at session.Leaf) error {
		path := d.PathTo(at)
		require.Equal(t, "user", d.Role(path[len(path)-1]), "the file was read")
		return nil
	}))
	say(t, s, "[[say:two]]")
	require.Equal(t, []string{"user", "user", "assistant/stop"}, roles(t, s.File()))
}

// A program that is killed in a command ends it. It continues with the next prompt, and so does our own loop, which gives the open
// call a result in what it sends.
// Proves: EF-18, EF-19
func TestAProcessThatIsKilledInACommand(t *testing.T) {
	t.Parallel()
	m := scripted(providertest.Reply{Text: "ours"})
	double := enginetest.Pi(t)
	w, cwd, _ := processWorldOf(t, approval.Yolo, session.Pi, engine.Program{Name: "pi", Path: double.Path, Env: double.Env, Protocol: engine.PiRPC}, withModel(m))
	s := w.live(t, cwd)
	pidFile := filepath.Join(cwd, "pid")
	done := background[event.ToolUpdate](t, w, s, `[[tool:bash {"command":"echo $$ > pid.new; mv pid.new pid; exec sleep 1000"}]]`)
	var raw []byte
	require.Eventually(t, func() bool {
		var err error
		raw, err = os.ReadFile(pidFile)
		return err == nil
	}, soon, time.Millisecond)
	pid, err := strconv.Atoi(strings.TrimSpace(string(raw)))
	require.NoError(t, err)
	parent := parentOf(t, pid)
	require.NoError(t, syscall.Kill(parent, syscall.SIGKILL))
	require.EqualError(t, <-done, "pi ended unexpectedly (signal: killed).")
	// It is killed; that it still shows for a moment is up to the system.
	require.Eventually(t, func() bool { return dead(pid) }, soon, time.Millisecond, "its command lives on")
	require.Equal(t, []string{"user", "assistant/toolUse"}, roles(t, s.File()))
	ends := runEvents[event.AgentEnd](w)
	require.Equal(t, provider.StopError, ends[len(ends)-1].StopReason)
	require.Empty(t, ends[len(ends)-1].Unanswered, "the prompt is in the file")

	_, err = s.SetEngine(t.Context(), engine.Own)
	require.NoError(t, err)
	say(t, s, "go on")
	require.Equal(t, []string{"user", "assistant/toolUse", "user", "assistant/stop"}, roles(t, s.File()))
	requests := m.Requests()
	sent := requests[len(requests)-1].Messages
	i := 0
	for i < len(sent) && sent[i].Role != provider.RoleToolResult {
		i++
	}
	require.Less(t, i, len(sent), "the open call has a result")
	require.NotEmpty(t, sent[i].PlainText())

	_, err = s.SetEngine(t.Context(), "pi")
	require.NoError(t, err)
	say(t, s, "[[say:theirs]]")
}

// dead reports whether a process has ended. One that nobody has waited for yet has ended, too.
func dead(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err != nil || strings.Contains(string(stat), ") Z ")
}

// parentOf returns the process that started another one.
func parentOf(t *testing.T, pid int) int {
	t.Helper()
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		t.Skip("this system has no /proc")
	}
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	parent, err := strconv.Atoi(fields[1])
	require.NoError(t, err)
	return parent
}

// Proves: EF-22
func TestAProcessIsEndedInARun(t *testing.T) {
	t.Parallel()
	w, cwd := piWorld(t, approval.Yolo)
	s := w.live(t, cwd)
	done := background[event.MessageUpdate](t, w, s, "[[slow:50]][[say:"+strings.Repeat("word ", 1000)+"]]")
	require.NoError(t, w.CloseFolder(t.Context(), cwd))
	<-done
	require.Equal(t, []string{"user", "assistant/aborted"}, roles(t, s.File()), "pi recorded it")
}

// Proves: EF-29
func TestAPermissionThatIsNeverGiven(t *testing.T) {
	t.Parallel()
	w, cwd := piWorld(t, approval.Ask)
	s := w.live(t, cwd)
	done := background[event.ApprovalsChanged](t, w, s, `[[tool:bash {"command":"touch made"}]]`)
	snap, err := s.Snapshot(t.Context())
	require.NoError(t, err)
	require.Len(t, snap.Approvals, 1)
	_, _, err = s.Abort(t.Context())
	require.NoError(t, err)
	require.NoError(t, <-done)
	snap, err = s.Snapshot(t.Context())
	require.NoError(t, err)
	require.Empty(t, snap.Approvals, "it was taken back")
	require.NoFileExists(t, filepath.Join(cwd, "made"))
	require.Equal(t, engine.Ready, s.Engine().State)
}

// Proves: EF-07
func TestAProcessWithoutExtensions(t *testing.T) {
	t.Parallel()
	w, cwd := piWorld(t, approval.Ask, "extension-fails")
	s := w.live(t, cwd)
	_, err := s.Prompt(t.Context(), agent.Input{Text: "[[say:one]]"})
	require.EqualError(t, err, "The extension /home/user/.pi/agent/extensions/broken.ts could not be loaded into pi.")
	_, err = s.SetPlainEngine(t.Context(), "pi")
	require.NoError(t, err)
	say(t, s, "[[say:one]]")
	_, err = s.SetEngine(t.Context(), "pi")
	require.NoError(t, err)
	_, err = s.Prompt(t.Context(), agent.Input{Text: "[[say:two]]"})
	require.Error(t, err, "the extensions of the user are back")
}

// Without the bridge nothing would ask, and the mode can change at any time, so that a program never runs without it.
// Proves: EF-08
func TestAProcessWithoutTheBridge(t *testing.T) {
	t.Parallel()
	for _, mode := range approval.Modes {
		t.Run(string(mode), func(t *testing.T) {
			t.Parallel()
			w, cwd := piWorld(t, mode, "bridge-fails")
			s := w.live(t, cwd)
			_, err := s.Prompt(t.Context(), agent.Input{Text: "[[say:one]]"})
			require.EqualError(t, err, "The extension of xcsh-ls could not be loaded into pi.")
			require.Equal(t, engine.Failed, s.Engine().State)
		})
	}
}

// copyOf returns a program of its own: the double under another path.
func copyOf(t *testing.T, dir string) engine.Program {
	t.Helper()
	path := filepath.Join(dir, "pi")
	double := enginetest.Pi(t)
	require.NoError(t, os.MkdirAll(dir, 0o700))
	require.NoError(t, os.Symlink(double.Path, path))
	return engine.Program{Name: "pi", Path: path, Env: double.Env, Protocol: engine.PiRPC}
}

// Proves: EF-01
func TestAProgramThatWasMoved(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	old := copyOf(t, filepath.Join(dir, "old"))
	w, cwd, c := processWorldOf(t, approval.Yolo, session.Pi, old)
	s := w.live(t, cwd)
	say(t, s, "[[say:one]]")
	_, err := s.SetEngine(t.Context(), "pi")
	require.NoError(t, err)
	c.program = copyOf(t, filepath.Join(dir, "new"))
	require.NoError(t, os.Remove(old.Path))
	_, err = s.Prompt(t.Context(), agent.Input{Text: "[[say:two]]"})
	require.EqualError(t, err, "pi is not installed any more (it was at "+old.Path+").")
	say(t, s, "[[say:three]]")
}

// An update takes effect when the program is started the next time.
// Proves: EF-39
func TestAProgramThatIsUpdatedWhileItRuns(t *testing.T) {
	t.Parallel()
	program := copyOf(t, t.TempDir())
	w, cwd, _ := processWorldOf(t, approval.Yolo, session.Pi, program)
	s := w.live(t, cwd)
	say(t, s, "[[say:one]]")
	require.NoError(t, os.Remove(program.Path))
	require.NoError(t, os.WriteFile(program.Path, []byte("#!/bin/sh\necho updated >&2\nexit 9\n"), 0o700))
	say(t, s, "[[say:two]]")
	require.NoError(t, s.Rename(t.Context(), "A title"))
	_, err := s.SetEngine(t.Context(), "pi")
	require.NoError(t, err)
	_, err = s.Prompt(t.Context(), agent.Input{Text: "[[say:three]]"})
	require.ErrorContains(t, err, "updated")
}

// Proves: EF-24
func TestAFileThatIsRemovedWhileAProcessHasIt(t *testing.T) {
	t.Parallel()
	w, cwd := piWorld(t, approval.Yolo)
	s := w.live(t, cwd)
	say(t, s, "[[say:one]]")
	require.NoError(t, os.Remove(s.File()))
	_, err := s.Prompt(t.Context(), agent.Input{Text: "[[say:two]]"}) // the program does not notice
	require.Eventually(t, func() bool {
		for _, n := range runEvents[event.Notice](w) {
			if strings.HasPrefix(n.Text, "pi was ended: The session file ") {
				return true
			}
		}
		return false
	}, soon, time.Millisecond, "%v", err)
	say(t, s, "[[say:three]]")
	list := roles(t, s.File())
	require.Equal(t, []string{"user", "assistant/stop"}, list[:2], "what was there before is there again")
	require.Equal(t, []string{"user", "assistant/stop"}, list[len(list)-2:])
	raw, err := os.ReadFile(s.File())
	require.NoError(t, err)
	assert.Equal(t, 1, strings.Count(string(raw), `"type":"session"`))
	require.NoError(t, s.View(func(d *session.Document, _ session.Leaf) error {
		assert.Empty(t, d.Problems())
		return nil
	}))
}

// Proves: EF-32
func TestAProcessThatGoesToAnotherSession(t *testing.T) {
	t.Parallel()
	w, cwd := piWorld(t, approval.Yolo)
	s := w.live(t, cwd)
	say(t, s, "[[say:one]]")
	first := s.File()
	_, err := s.New(t.Context(), session.NewOptions{})
	require.NoError(t, err)
	say(t, s, "[[say:two]]")
	changed := make(chan agent.SessionChanged, 8)
	cancel := w.Subscribe(func(e agent.Event) {
		if c, ok := e.(agent.SessionChanged); ok {
			changed <- c
		}
	})
	defer cancel()
	_, err = s.Prompt(t.Context(), agent.Input{Text: "/switch " + first})
	require.NoError(t, err)
	select {
	case c := <-changed:
		require.Equal(t, agent.ReasonResume, c.Reason)
	case <-time.After(soon):
		require.FailNow(t, "the session does not follow")
	}
	require.Equal(t, first, s.File())
	say(t, s, "[[say:three]]")
	require.Equal(t, []string{"user", "assistant/stop", "user", "assistant/stop"}, roles(t, first))
}
