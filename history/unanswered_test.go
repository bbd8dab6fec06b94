package history_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/history"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
)

const journalDir = "/agent/xcsh-ls/unanswered"

// keeper is a store whose database is not used and whose unanswered prompts are in fs. Of the other
// processes only those in alive exist.
func keeper(t *testing.T, fs afero.Fs, alive ...int) *world {
	t.Helper()
	return open(t, filepath.Join(t.TempDir(), "history.db"), func(c *history.Config) {
		c.Unanswered = journalDir
		c.Fs = fs
		c.Alive = func(pid int) bool { return slices.Contains(alive, pid) }
	})
}

func names(t *testing.T, fs afero.Fs) (list []string) {
	t.Helper()
	files, err := afero.ReadDir(fs, journalDir)
	if os.IsNotExist(err) {
		return nil
	}
	require.NoError(t, err)
	for _, f := range files {
		list = append(list, f.Name())
	}
	return list
}

// dies gives the files of this process to one that no longer exists, as if it had been killed.
func dies(t *testing.T, fs afero.Fs, pid int) {
	t.Helper()
	for _, name := range names(t, fs) {
		_, rest, _ := strings.Cut(name, "-")
		require.NoError(t, fs.Rename(filepath.Join(journalDir, name), filepath.Join(journalDir, fmt.Sprintf("%d-%s", pid, rest))))
	}
}

func say(w *world, text string) *history.Mark {
	w.clock.add(time.Second)
	return w.Say(history.Prompt{Text: text, Cwd: "/w"})
}

func TestAPromptIsKeptUntilItIsAnswered(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	w := keeper(t, fs)
	mark := say(w, "  \tan important question\n"[2:])
	require.Len(t, names(t, fs), 1, "on disk before the model is asked")
	info, err := fs.Stat(filepath.Join(journalDir, names(t, fs)[0]))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	require.Empty(t, w.Unanswered("", ""), "it may still be answered")
	require.Empty(t, w.Offer("/w"))
	mark.Answered()
	mark.Answered()
	require.Empty(t, names(t, fs))
}

func TestPromptsOfAnEndedProcessAreOfferedOnce(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	killed := keeper(t, fs)
	say(killed, "the first")
	say(killed, "the second")
	dies(t, fs, 4711)
	require.Empty(t, keeper(t, fs, 4711).Unanswered("", ""), "its process lives")

	w := keeper(t, fs)
	require.Equal(t, []string{"the second", "the first"}, texts(w.Unanswered("", "")))
	require.Equal(t, []string{"the first"}, texts(w.Unanswered("firs", "/w")))
	require.Empty(t, w.Unanswered("", "/elsewhere"))
	require.Empty(t, w.Offer("/elsewhere"), "it is the other folder's")
	offered := w.Offer("/w")
	require.Equal(t, []string{"the first", "the second"}, texts(offered))
	require.True(t, offered[1].Created.Equal(killed.clock.Now()))
	require.Empty(t, w.Offer("/w"))
	require.Equal(t, []string{"the second", "the first"}, texts(w.Unanswered("", "")), "the list has it for as long as the process lives")

	say(w, "the first").Answered()
	require.Equal(t, []string{"the second"}, texts(w.Unanswered("", "")), "it was sent again")
	require.NoError(t, w.Close(t.Context()))
	require.Empty(t, names(t, fs), "and at the end it was seen")
	require.Empty(t, keeper(t, fs).Unanswered("", ""))
}

// Prompts are offered again if the process that offered them was killed before the user saw them.
func TestUnseenOffer(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	say(keeper(t, fs), "question")
	dies(t, fs, 4711)
	require.Len(t, keeper(t, fs).Offer("/w"), 1)
	dies(t, fs, 4712)
	require.Equal(t, []string{"question"}, texts(keeper(t, fs).Offer("/w")))
}

// The history gets the prompts that a process could not write any more, and none twice.
func TestAnOfferIsInTheHistory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	store := func() *world {
		return open(t, filepath.Join(dir, "history.db"), func(c *history.Config) {
			c.Unanswered, c.Alive = filepath.Join(dir, "unanswered"), func(int) bool { return false }
		})
	}
	written := store()
	say(written, "was written")
	written.say("behind it")
	written.flush(t)
	content, err := json.Marshal(map[string]any{"prompt": "was not", "cwd": "/w", "createdAt": written.clock.Now(), "host": hostname(t)})
	require.NoError(t, err)
	file := written.journalFile(t, dir)
	require.NoError(t, os.Rename(file, filepath.Join(dir, "unanswered", "1-aa.json")))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "unanswered", "2-bb.json"), content, 0o600))
	w := store()
	require.Len(t, w.Offer("/w"), 2)
	w.flush(t)
	require.Equal(t, []string{"was not", "behind it", "was written"}, w.recent(t, 10))
}

func hostname(t *testing.T) string {
	t.Helper()
	host, err := os.Hostname()
	require.NoError(t, err)
	return host
}

// journalFile is the one file of prompts without an answer.
func (w *world) journalFile(t *testing.T, dir string) string {
	t.Helper()
	files, err := os.ReadDir(filepath.Join(dir, "unanswered"))
	require.NoError(t, err)
	require.Len(t, files, 1)
	return filepath.Join(dir, "unanswered", files[0].Name())
}

// renamesInTurn is a file system in memory. afero's crashes if one file is renamed twice at the same time.
type renamesInTurn struct {
	afero.Fs
	mu sync.Mutex
}

func (f *renamesInTurn) Rename(from, to string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.Fs.Rename(from, to)
}

// Of several processes that start at once one makes the offer.
func TestOneOfSeveralOffers(t *testing.T) {
	t.Parallel()
	fs := &renamesInTurn{Fs: afero.NewMemMapFs()}
	say(keeper(t, fs), "question")
	dies(t, fs, 4711)
	offers := make(chan int, 8)
	for range cap(offers) {
		w := keeper(t, fs)
		go func() { offers <- len(w.Offer("/w")) }()
	}
	sum := 0
	for range cap(offers) {
		sum += <-offers
	}
	// The stores of this test have one process number, so that a claimed file looks left behind to
	// the others; but no two of them may claim it at the same time.
	require.Len(t, names(t, fs), 1)
	require.Positive(t, sum)
}

// Unexpected files in the directory do no harm, and files that are not ours stay.
func TestOddFiles(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	for name, content := range map[string]string{
		"4711-a.json": "", "4711-b.json": "{", "4711-c.json": `{"prompt":""}`, "4711-d.json": `[]`, "4711.json": `{"prompt":"x"}`,
		"0-a.json": `{"prompt":"x"}`, "-1-a.json": `{"prompt":"x"}`, "99999999999-a.json": `{"prompt":"x"}`, "notes.txt": "x",
		"4711-e.json": `{"prompt":"of another machine","host":"elsewhere"}`, "4711-f.json.tmp": `{"pro`, "4711-g.json.ABCDEFGH.tmp": `{"pro`, "1-f.json.tmp": `{"pro`,
	} {
		require.NoError(t, afero.WriteFile(fs, filepath.Join(journalDir, name), []byte(content), 0o600))
	}
	require.NoError(t, fs.Mkdir(filepath.Join(journalDir, "4711-g.json"), 0o700))
	w := keeper(t, fs, 1)
	require.Empty(t, w.Unanswered("", ""))
	require.Empty(t, w.Offer(""))
	require.NotContains(t, names(t, fs), "4711-f.json.tmp", "half a file of an ended process")
	require.NotContains(t, names(t, fs), "4711-g.json.ABCDEFGH.tmp")
	require.Contains(t, names(t, fs), "1-f.json.tmp")
	require.Len(t, names(t, fs), 12)
}

// A prompt that begins with a space is kept until it is answered, like any other, but never
// enters the prompt history.
func TestASecretIsNotRecorded(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	w := keeper(t, fs)
	w.Say(history.Prompt{Text: " answered", Cwd: "/w"}).Answered()
	require.Empty(t, names(t, fs))
	w.Say(history.Prompt{Text: " secret", Cwd: "/w"})
	dies(t, fs, 4711)
	next := keeper(t, fs)
	require.Equal(t, []string{"secret"}, texts(next.Offer("/w")))
	for _, store := range []*world{w, next} {
		entries, err := store.Recent(t.Context(), 10, "")
		require.NoError(t, err)
		require.Empty(t, entries)
	}
	require.NoError(t, next.Close(t.Context()))
	require.Empty(t, names(t, fs))
	require.Nil(t, w.Keep(history.Prompt{Text: " \n"}), "nothing to keep")
}

// An abandoned prompt stays until an orderly end.
func TestAnAbandonedPrompt(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	w := keeper(t, fs)
	mark := say(w, "taken back")
	mark.Abandon()
	mark.Answered()
	require.Len(t, names(t, fs), 1)
	require.NoError(t, w.Close(t.Context()))
	require.Empty(t, names(t, fs))
}

// A prompt that is too long for the database is kept whole.
func TestALongPromptIsKeptCompletely(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	long := strings.Repeat("long ", 300_000) + "end"
	say(keeper(t, fs), long)
	dies(t, fs, 4711)
	require.Equal(t, []string{long}, texts(keeper(t, fs).Offer("/w")))
}

// Every step that fails costs the offer at most. There is never half a prompt, and an answer is not
// offered again unless its file could not be removed.
func TestEveryStepOfTheJournalThatFails(t *testing.T) {
	t.Parallel()
	for _, mode := range []st.Mode{st.Dead, st.Short} {
		for at := 1; ; at++ {
			fs := afero.NewMemMapFs()
			faulty := &st.FaultFs{Fs: fs, At: at, Mode: mode}
			w := keeper(t, faulty)
			mark := say(w, "question")
			if !faulty.Fired() {
				require.Greater(t, at, 5)
				require.Len(t, names(t, fs), 1)
				break
			}
			dies(t, fs, 4711)
			offered := keeper(t, fs).Offer("/w")
			for _, e := range offered {
				require.Equal(t, "question", e.Prompt)
			}
			if mark != nil {
				require.Len(t, offered, 1, "acknowledged prompts are stored")
			}
			mark.Answered() // has no file any more, which is not a failure
		}
	}
}

// A process that got the pid of one that was killed does not keep its prompt from being offered.
func TestAPromptOfAReusedPidIsOffered(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	other, path := 77, filepath.Join(t.TempDir(), "history.db")
	processes := map[int]string{os.Getpid(): "boot:1", other: "boot:1"} // as the process of the first store, after dies
	server := func() *world {
		return open(t, path, func(c *history.Config) {
			c.Unanswered, c.Fs = journalDir, fs
			c.Alive = func(pid int) bool { return processes[pid] != "" }
			c.Started = func(pid int) string { return processes[pid] }
		})
	}
	say(server(), "an important question")
	dies(t, fs, other)
	name := filepath.Join(journalDir, names(t, fs)[0])
	content, err := afero.ReadFile(fs, name)
	require.NoError(t, err)
	written := fmt.Sprintf(`"pid":%d`, os.Getpid())
	require.Contains(t, string(content), written)
	require.NoError(t, afero.WriteFile(fs, name, []byte(strings.Replace(string(content), written, `"pid":77`, 1)), 0o600))
	w := server()
	require.Empty(t, w.Offer("/w"), "its process lives")
	require.Empty(t, w.Unanswered("", ""))
	processes[other] = "boot:2"
	require.Len(t, w.Unanswered("", ""), 1)
	require.Len(t, w.Offer("/w"), 1)
	require.Empty(t, w.Offer("/w"), "it belongs to this process now")

	dies(t, fs, 78) // which took the prompt over and lives
	processes[78] = "boot:3"
	require.Empty(t, server().Offer("/w"), "the file still describes its writer")
}
