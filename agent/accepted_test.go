package agent_test

import (
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// kept lists the prompts in the journal of withJournal.
func kept(t *testing.T, fs afero.Fs) (texts []string) {
	t.Helper()
	files, err := afero.ReadDir(fs, journal)
	if !errors.Is(err, os.ErrNotExist) {
		require.NoError(t, err)
	}
	for _, f := range files {
		content, err := afero.ReadFile(fs, journal+"/"+f.Name())
		require.NoError(t, err)
		_, text, _ := strings.Cut(string(content), `"prompt":"`)
		text, _, _ = strings.Cut(text, `"`)
		texts = append(texts, text)
	}
	return texts
}

// survives reports whether a prompt is in the session's file or in the journal.
func survives(t *testing.T, fs afero.Fs, s *agent.Session, text string) bool {
	t.Helper()
	content, err := afero.ReadFile(fs, s.File())
	if !errors.Is(err, os.ErrNotExist) {
		require.NoError(t, err)
	}
	return strings.Contains(string(content), `"`+text+`"`) || strings.Contains(strings.Join(kept(t, fs), "\n"), text)
}

// A queued prompt is in the journal before its queueing is reported, until its answer is on disk.
func TestAQueuedPromptIsKept(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		fs, hold := afero.NewMemMapFs(), make(chan struct{})
		call := providertest.Reply{ToolCalls: []providertest.Call{{Name: "look"}}, Before: hold}
		m := scripted(call, providertest.Reply{Text: "Two."}, providertest.Reply{Text: "Three."})
		w := newWorld(t, fs, withModel(m), withTools(lookTool()), withJournal(t, fs))
		s := w.live(t, "/w")
		w.Subscribe(func(e agent.Event) {
			queue, _ := isEvent[event.QueueChanged](e)
			for _, text := range append(queue.Steering, queue.FollowUp...) {
				assert.True(t, survives(t, fs, s, text), text)
			}
			end, _ := isEvent[event.MessageEnd](e)
			if m, err := provider.DecodeMessage(end.Message); err == nil && m.Role == provider.RoleUser {
				assert.True(t, survives(t, fs, s, m.PlainText()), m.PlainText())
			}
		})
		done := promptInBackground(t, s, "one")
		synctest.Wait()
		_, err := s.Enqueue(agent.Input{Text: "two", Queue: "steer"})
		require.NoError(t, err)
		turn, err := s.Prompt(t.Context(), agent.Input{Text: "three", Queue: "followUp"})
		require.NoError(t, err)
		require.True(t, turn.Queued)
		require.ElementsMatch(t, []string{"one", "two", "three"}, kept(t, fs))
		close(hold)
		<-done
		require.Empty(t, kept(t, fs))
		require.NoError(t, w.Close(t.Context()))
	})
}

// A prompt that was given back stays in the journal until the client must know of it.
func TestAPromptThatIsGivenBackIsKeptForAWhile(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		fs := afero.NewMemMapFs()
		answer := providertest.Reply{Text: "Answered."}
		m := scripted(providertest.Reply{Text: "x", Before: make(chan struct{})}, answer, answer, answer)
		w := newWorld(t, fs, withModel(m), withJournal(t, fs))
		s := w.live(t, "/w")
		done := promptInBackground(t, s, "one")
		synctest.Wait()
		_, err := s.Enqueue(agent.Input{Text: "two", Queue: "followUp"})
		require.NoError(t, err)
		_, unanswered, err := s.Abort(t.Context())
		require.NoError(t, err)
		<-done
		require.Equal(t, []string{"two"}, unanswered)
		require.ElementsMatch(t, []string{"one", "two"}, kept(t, fs), "the session has no file")
		prompt(t, s, "three")
		require.Equal(t, []string{"two"}, kept(t, fs), "the notification may not have been written yet")
		require.True(t, survives(t, fs, s, "one"))
		<-time.After(10 * time.Second)
		prompt(t, s, "two")
		require.Empty(t, kept(t, fs), "neither the former one nor the same text sent again")
		require.True(t, survives(t, fs, s, "two"))
		require.NoError(t, w.Close(t.Context()))
	})
}

// The prompts of a session that is switched away before it had a file stay in the journal until the
// end.
func TestAPromptOfASessionWithoutAFileIsKept(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		fs := afero.NewMemMapFs()
		w := newWorld(t, fs, withModel(scripted(providertest.Reply{Text: "x", Before: make(chan struct{})})), withJournal(t, fs))
		s := w.live(t, "/w")
		done := promptInBackground(t, s, "one")
		synctest.Wait()
		_, _, err := s.Abort(t.Context())
		require.NoError(t, err)
		<-done
		_, err = s.New(t.Context(), session.NewOptions{})
		require.NoError(t, err)
		require.Equal(t, []string{"one"}, kept(t, fs))
		require.NoError(t, w.Close(t.Context()))
		require.Empty(t, kept(t, fs), "an orderly end: the user gave it up")
	})
}

// brokenJournal fails every write below the journal.
type brokenJournal struct{ afero.Fs }

func (b brokenJournal) OpenFile(name string, flag int, perm os.FileMode) (afero.File, error) {
	if strings.HasPrefix(name, journal) {
		return nil, os.ErrPermission
	}
	return b.Fs.OpenFile(name, flag, perm)
}

// A prompt that the journal lacks, or has only in part, is in the session's file before
// message_end.
func TestPromptsMissingFromTheJournalAreInTheFile(t *testing.T) {
	t.Parallel()
	image := provider.Block{Type: provider.TypeImage, Data: "iVBORw0KGgo=", MimeType: "image/png"}
	for name, c := range map[string]struct {
		in     agent.Input
		broken bool
	}{
		"the journal cannot be written": {in: agent.Input{Text: "one"}, broken: true},
		"an image":                      {in: agent.Input{Text: "one", Images: []provider.Block{image}}},
		"nothing but an image":          {in: agent.Input{Images: []provider.Block{image}}},
		"an attachment":                 {in: agent.Input{Text: "one", Attached: "<file>"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				fs := afero.NewMemMapFs()
				journalFs := fs
				if c.broken {
					journalFs = brokenJournal{fs}
				}
				w := newWorld(t, fs, withModel(scripted(providertest.Reply{Text: "x", Before: make(chan struct{})})), withJournal(t, journalFs))
				s := w.live(t, "/w")
				ended := false
				w.Subscribe(func(e agent.Event) {
					if end, ok := isEvent[event.MessageEnd](e); ok && end.EntryID != "" {
						ended = true
						content, _ := afero.ReadFile(fs, s.File())
						assert.Contains(t, string(content), string(end.Message))
					}
				})
				go func() { _, _ = s.Prompt(t.Context(), c.in) }()
				synctest.Wait()
				require.True(t, ended)
				require.NoError(t, w.Close(t.Context()))
			})
		})
	}
}

// slowJournal blocks the rename that puts a prompt into the journal.
type slowJournal struct {
	afero.Fs
	renaming chan struct{}
}

func (s slowJournal) Rename(from, to string) error {
	if strings.HasPrefix(to, journal) {
		<-s.renaming
	}
	return s.Fs.Rename(from, to)
}

// Nothing is acknowledged while the journal is being written.
func TestNothingIsAcknowledgedBeforeTheJournal(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		fs, renaming, hold := afero.NewMemMapFs(), make(chan struct{}), make(chan struct{})
		m := scripted(providertest.Reply{Text: "One.", Before: hold}, providertest.Reply{Text: "Two."})
		w := newWorld(t, fs, withModel(m), withJournal(t, slowJournal{fs, renaming}))
		s := w.live(t, "/w")
		acked := func(text string) bool {
			return slices.ContainsFunc(w.runEvents(), func(e agent.RunEvent) bool {
				raw, err := json.Marshal(e.Event)
				require.NoError(t, err)
				return strings.Contains(string(raw), text)
			})
		}
		done := promptInBackground(t, s, "one")
		synctest.Wait()
		require.False(t, acked("one"))
		renaming <- struct{}{}
		synctest.Wait()
		require.True(t, acked("one"))
		queued := make(chan error, 1)
		go func() {
			_, err := s.Enqueue(agent.Input{Text: "two", Queue: "followUp"})
			queued <- err
		}()
		synctest.Wait()
		require.Empty(t, queued)
		require.False(t, acked("two"))
		renaming <- struct{}{}
		require.NoError(t, <-queued)
		require.True(t, acked("two"))
		close(hold)
		<-done
		require.NoError(t, w.Close(t.Context()))
	})
}
