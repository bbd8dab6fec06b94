package agent_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap/zaptest"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/history"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
)

// remembering is a world with a prompt history below dir. Other processes are never alive.
func worldWithHistory(t *testing.T, dir string, options ...option) *world {
	t.Helper()
	return newWorld(t, afero.NewMemMapFs(), append(options, func(c *agent.Config) {
		c.History = history.Open(history.Config{
			Path: filepath.Join(dir, "history.db"), Unanswered: filepath.Join(dir, "unanswered"),
			Alive: func(int) bool { return false }, Log: zaptest.NewLogger(t),
		})
	})...)
}

// journal is where the journal of withJournal is.
const journal = "/agent/unanswered"

// withJournal keeps unanswered prompts in fs.
func withJournal(t *testing.T, fs afero.Fs) option {
	return func(c *agent.Config) {
		c.History = history.Open(history.Config{
			Unanswered: journal, Fs: fs, Alive: func(int) bool { return false }, Log: zaptest.NewLogger(t),
		})
	}
}

func recordedPrompts(t *testing.T, w *world) (prompts []string) {
	t.Helper()
	entries, err := w.History().Recent(t.Context(), 100, "")
	require.NoError(t, err)
	for _, e := range entries {
		prompts = append(prompts, e.Cwd+": "+e.Prompt)
	}
	return prompts
}

func waitingForAnswers(t *testing.T, dir string) []os.DirEntry {
	t.Helper()
	files, err := os.ReadDir(filepath.Join(dir, "unanswered"))
	if !os.IsNotExist(err) {
		require.NoError(t, err)
	}
	return files
}

// A prompt is recorded when it is accepted, whether it starts a turn or is queued for the current
// one.
// Proves: X-225
func TestPromptsAreRecordedInTheHistory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	held := make(chan struct{})
	w := worldWithHistory(t, dir, withModel(scripted(
		providertest.Reply{Text: "One.", Before: held}, providertest.Reply{Text: "Two."}, providertest.Reply{Text: "Three."})))
	s := w.live(t, "/w")
	accepted := make(chan struct{})
	done := make(chan error, 1)
	go func() {
		_, err := s.Prompt(t.Context(), agent.Input{Attached: "<file>secret of the file</file>\n", Text: "first", Accepted: func() { close(accepted) }})
		done <- err
	}()
	<-accepted
	require.Equal(t, []string{"/w: first"}, recordedPrompts(t, w), "before it is answered, and without attachments")
	require.Len(t, waitingForAnswers(t, dir), 1)
	_, err := s.Enqueue(agent.Input{Text: "steer it", Queue: "steer"})
	require.NoError(t, err)
	turn, err := s.Prompt(t.Context(), agent.Input{Text: "and then", Queue: "followUp"})
	require.NoError(t, err)
	require.True(t, turn.Queued)
	_, err = s.Prompt(t.Context(), agent.Input{Text: "refused"})
	require.True(t, fault.Is(err, fault.Busy))
	close(held)
	require.NoError(t, <-done)
	require.Empty(t, waitingForAnswers(t, dir))
	require.Equal(t, []string{"/w: and then", "/w: steer it", "/w: first"}, recordedPrompts(t, w))
	require.NoError(t, w.Close(t.Context()))
	require.NoFileExists(t, filepath.Join(dir, "history.db-wal"), "flushed and closed")
}

func TestPromptsThatAreNotRecorded(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w := worldWithHistory(t, dir, withModel(scripted(providertest.Reply{Text: "A."}, providertest.Reply{Text: "B."})))
	prompt(t, w.live(t, "/w"), " a secret")
	require.Empty(t, recordedPrompts(t, w))
	inMemory := worldWithHistory(t, dir, withModel(scripted(providertest.Reply{Text: "A."})), func(c *agent.Config) { c.InMemory = true })
	prompt(t, inMemory.live(t, "/w"), "leaves no trace")
	require.Empty(t, recordedPrompts(t, inMemory))
	require.NoError(t, inMemory.Close(t.Context()))
	refused := worldWithHistory(t, dir, withModel(&models{key: fault.New(fault.Provider, "No API key for p.")}))
	_, err := refused.live(t, "/w").Prompt(t.Context(), agent.Input{Text: "nobody answers"})
	require.Error(t, err)
	require.Empty(t, recordedPrompts(t, refused))
	require.NoError(t, refused.Close(t.Context()))
	require.NoError(t, w.Close(t.Context()))
	require.Empty(t, waitingForAnswers(t, dir))
	require.NoFileExists(t, filepath.Join(dir, "history.db"))
}

// A turn that ends in any way leaves no unanswered prompt to offer: the user was there.
func TestATurnThatEndsIsNotOfferedAgain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	held := make(chan struct{})
	defer close(held)
	w := worldWithHistory(t, dir, withModel(scripted(providertest.Reply{Fault: providertest.BadKey}, providertest.Reply{Text: "late", Before: held})))
	s := w.live(t, "/w")
	_, err := s.Prompt(t.Context(), agent.Input{Text: "fails"})
	require.Error(t, err)
	require.Empty(t, waitingForAnswers(t, dir))
	accepted, done := make(chan struct{}), make(chan agent.Turn, 1)
	go func() {
		turn, _ := s.Prompt(t.Context(), agent.Input{Text: "taken back", Accepted: func() { close(accepted) }})
		done <- turn
	}()
	<-accepted
	require.Len(t, waitingForAnswers(t, dir), 1)
	aborted, _, err := s.Abort(t.Context())
	require.NoError(t, err)
	require.True(t, aborted)
	require.Equal(t, provider.StopAborted, (<-done).StopReason)
	require.Empty(t, waitingForAnswers(t, dir))
	require.NoError(t, w.Close(t.Context()))
}

// A prompt whose process was killed is offered once, when its folder is opened the next time.
// Proves: F-06, AB-001
func TestAPromptWithoutAnAnswerIsOfferedAgain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	killed := history.Open(history.Config{Path: filepath.Join(dir, "history.db"), Unanswered: filepath.Join(dir, "unanswered")})
	killed.Say(history.Prompt{Text: "why is it slow?\nmore\n", Cwd: "/w"})
	require.NoError(t, killed.Flush(t.Context()))
	file := waitingForAnswers(t, dir)[0].Name()
	_, random, _ := strings.Cut(file, "-")
	require.NoError(t, os.Rename(filepath.Join(dir, "unanswered", file), filepath.Join(dir, "unanswered", "1-"+random)))

	w := worldWithHistory(t, dir)
	w.live(t, "/elsewhere")
	require.Empty(t, w.runEvents(), "it is not this folder's")
	w.live(t, "/w")
	w.live(t, "/w")
	require.Len(t, w.runEvents(), 1)
	notices := eventsOf[event.Notice](w)
	require.Len(t, notices, 1)
	require.Contains(t, notices[0].Text, "was not answered")
	require.Contains(t, notices[0].Text, ": why is it slow?…")
	require.Len(t, w.History().Unanswered("", "/w"), 1)
	require.NoError(t, w.Close(t.Context()))
	require.Empty(t, waitingForAnswers(t, dir))

	again := worldWithHistory(t, dir)
	again.live(t, "/w")
	require.Empty(t, again.runEvents())
	require.Equal(t, []string{"/w: why is it slow?\nmore"}, recordedPrompts(t, again), "the history keeps it")
	require.NoError(t, again.Close(t.Context()))
	require.NoError(t, killed.Close(t.Context()))
}

// A turn works although the database is unusable.
// Proves
func TestADamagedHistoryStopsNoPrompt(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "history.db"), []byte(strings.Repeat("damaged ", 1000)), 0o600))
	w := worldWithHistory(t, dir, withModel(scripted(providertest.Reply{Text: "A."}, providertest.Reply{Text: "B."})))
	s := w.live(t, "/w")
	require.Equal(t, provider.StopEnd, prompt(t, s, "one").StopReason)
	require.Equal(t, provider.StopEnd, prompt(t, s, "two").StopReason)
	require.Equal(t, 4, state(t, s).MessageCount)
	require.NoError(t, w.Close(t.Context()))
}
