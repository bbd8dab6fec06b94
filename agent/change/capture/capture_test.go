package capture_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/change"
	"github.com/xcsh-ls/xcsh-ls/agent/change/capture"
	"github.com/xcsh-ls/xcsh-ls/agent/change/contents"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
)

var (
	dir    = filepath.FromSlash("/s/session/changes")
	origin = capture.Origin{PromptID: "p", ToolCallID: "c", Tool: "edit", Folder: filepath.FromSlash("/w")}
)

func stateOf(text string) change.State {
	return change.State{Kind: change.Regular, SHA256: change.Sum([]byte(text)), Mode: 0o644, Size: int64(len(text))}
}

func TestARecordHasWhatChanged(t *testing.T) {
	t.Parallel()
	a, b := stateOf("a"), stateOf("b")
	r := origin.Record([]change.Change{
		{Path: filepath.FromSlash("/w/z"), Before: a, After: &b},
		{Path: filepath.FromSlash("/elsewhere/x"), Before: a, After: &b},
		{Path: filepath.FromSlash("/w/same"), Before: a, After: &a},
		{Path: "/w/\xff", Before: a, After: &b},
		{Path: "/w/a\x00b", Before: a, After: &b},
	})
	require.Equal(t, []string{"/elsewhere/x", "z"}, []string{r.Changes[0].Path, r.Changes[1].Path})
	require.Len(t, r.Changes, 2)
	require.Equal(t, []string{change.LimitBudget}, r.Limits, "a path that JSON can't hold is missing")
	require.Equal(t, change.RootURI(origin.Folder), r.Root)
}

func TestManyChangesGoIntoAContent(t *testing.T) {
	t.Parallel()
	a, b := stateOf("a"), stateOf("b")
	var changes []change.Change
	for i := range 2000 {
		changes = append(changes, change.Change{Path: fmt.Sprintf("dir/file <%d>", i), Before: a, After: &b})
	}
	store := contents.Open(contents.Options{})
	data, err := capture.Encode(origin.Record(changes), store.Put)
	require.NoError(t, err)
	require.Less(t, len(data), 1000)
	back, err := change.ParseRecord(data, store.Get)
	require.NoError(t, err)
	require.False(t, back.Unreadable)
	require.Len(t, back.Changes, 2000)
	require.Equal(t, "dir/file <0>", back.Changes[0].Path)

	_, err = capture.Encode(origin.Record(changes), func([]byte) (string, error) { return "", contents.ErrBudget })
	require.ErrorIs(t, err, contents.ErrBudget)
	data, err = capture.Encode(origin.Record(changes[:1]), nil)
	require.NoError(t, err)
	require.Contains(t, string(data), `"dir/file <0>"`)
}

func TestTheRecordGoesAheadOfTheChange(t *testing.T) {
	t.Parallel()
	boom := fault.New(fault.NoSpace, "No space.")
	for name, c := range map[string]struct {
		id       string
		appended error
		required bool
		written  error
		steps    string
		fails    bool
	}{
		"done":                      {id: "r", steps: "record write"},
		"the write fails":           {id: "r", written: errors.New("no"), steps: "record write void", fails: true},
		"the record is not saved":   {id: "r", appended: boom, steps: "record write"},
		"it is required":            {id: "r", appended: boom, required: true, steps: "record void", fails: true},
		"there can't be any record": {appended: boom, steps: "record", fails: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var steps []string
			err := capture.Ahead(origin.Record(nil), func(r change.Record) (string, error) {
				if r.Void != "" {
					require.Equal(t, c.id, r.Void)
					steps = append(steps, "void")
					return "v", nil
				}
				steps = append(steps, "record")
				return c.id, c.appended
			}, c.required, func() error {
				steps = append(steps, "write")
				return c.written
			})
			require.Equal(t, c.steps, strings.Join(steps, " "))
			require.Equal(t, c.fails, err != nil)
			if c.fails && c.written == nil {
				require.Equal(t, fault.NoSpace, fault.KindOf(err))
			}
		})
	}
}

// At each step of adding a record something fails: those before it stay, and it is there whole or not at all.
func TestWaitingRecordsAtEachFault(t *testing.T) {
	t.Parallel()
	for _, mode := range []st.Mode{st.Once, st.Short, st.Dead} {
		for at := 1; ; at++ {
			base := afero.NewMemMapFs()
			first, second, third := entry("0000000a"), entry("0000000b"), entry("0000000c")
			require.NoError(t, capture.Waiting{Fs: base, Dir: dir}.Add(first))
			broken := &st.FaultFs{Fs: base, At: at, Mode: mode}
			err := capture.Waiting{Fs: broken, Dir: dir}.Add(second)
			require.NoError(t, capture.Waiting{Fs: base, Dir: dir}.Add(third), "the next process goes on")
			got, readErr := capture.Waiting{Fs: base, Dir: dir}.Read()
			require.NoError(t, readErr)
			if err == nil {
				require.Equal(t, []capture.Entry{first, second, third}, got)
			} else {
				require.ErrorIs(t, err, st.ErrInjected)
				require.Equal(t, first, got[0])
				require.Equal(t, third, got[len(got)-1])
			}
			if !broken.Fired() {
				require.NoError(t, err)
				require.Greater(t, at, 2)
				break
			}
		}
	}
}

func entry(id string) capture.Entry {
	return capture.Entry{ID: id, Data: json.RawMessage(`{"v":1}`)}
}

func TestHostileWaitingRecords(t *testing.T) {
	t.Parallel()
	fsys := afero.NewMemMapFs()
	w := capture.Waiting{Fs: fsys, Dir: dir}
	got, err := w.Read()
	require.NoError(t, err)
	require.Empty(t, got)
	require.NoError(t, afero.WriteFile(fsys, filepath.Join(dir, "waiting.jsonl"), []byte("{\n\x00\n[]\n"+`{"id":"\"},{","data":{}}`+"\n"+`{"id":"0000000a","data":{"v":1}}`), 0o600))
	got, err = w.Read()
	require.NoError(t, err)
	require.Equal(t, []string{"", "0000000a"}, []string{got[0].ID, got[1].ID}, "an id of another form is replaced")
	require.NoError(t, w.Clear())
	require.NoError(t, w.Clear())
	require.Zero(t, w.Size())
}

func TestWhatWaitsIsNotBehindALink(t *testing.T) {
	t.Parallel()
	fsys, root := afero.NewOsFs(), t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(root, "elsewhere"), 0o700))
	if os.Symlink("elsewhere", filepath.Join(root, "changes")) != nil {
		t.Skip("links need a privilege")
	}
	dir := filepath.Join(root, "changes")
	require.Equal(t, fault.OutsideRoot, fault.KindOf(capture.Waiting{Fs: fsys, Dir: dir}.Add(entry("0000000a"))))
	_, err := capture.Journal{Fs: fsys, Dir: dir}.Begin(change.Record{V: 1}, time.Now(), func(afero.Fs, string) error { return nil })
	require.Equal(t, fault.OutsideRoot, fault.KindOf(err))
	left, err := os.ReadDir(filepath.Join(root, "elsewhere"))
	require.NoError(t, err)
	require.Empty(t, left)
}

// A command that began has both of its files; one whose journal failed at any step leaves none.
func TestJournalsAtEachFault(t *testing.T) {
	t.Parallel()
	at0 := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for at := 1; ; at++ {
		base := afero.NewMemMapFs()
		broken := &st.FaultFs{Fs: base, At: at, Mode: st.Once}
		save := func(fsys afero.Fs, path string) error {
			if err := fsys.MkdirAll(dir, 0o700); err != nil {
				return err
			}
			return afero.WriteFile(fsys, path, []byte("look"), 0o600)
		}
		c, err := capture.Journal{Fs: broken, Dir: dir}.Begin(origin.Record(nil), at0, save)
		found, findErr := capture.Journal{Fs: base, Dir: dir}.Interrupted()
		require.NoError(t, findErr)
		if err != nil {
			require.ErrorIs(t, err, st.ErrInjected)
			require.Empty(t, found, "step %d", at)
		} else {
			require.Len(t, found, 1)
			require.Equal(t, "c", found[0].Record.ToolCallID)
			require.Equal(t, c.Look(), found[0].Look())
			require.NoError(t, found[0].End())
		}
		left, err := afero.ReadDir(base, dir)
		require.True(t, err != nil || len(left) == 0, "step %d: %v", at, left)
		if !broken.Fired() {
			require.Greater(t, at, 4)
			break
		}
	}
}
