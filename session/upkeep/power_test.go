package upkeep_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
	"github.com/xcsh-ls/xcsh-ls/internal/sessiontest/kit"
	"github.com/xcsh-ls/xcsh-ls/session/upkeep"
)

// moves are the ways to move a session. Each returns where it is afterwards.
var moves = map[string]func(power, fs afero.Fs) (string, error){
	"to the trash": func(_, fs afero.Fs) (string, error) {
		s, _ := kit.Rooted(fs, 1)
		dir, err := upkeep.Trash(s, kit.MovedFrom)
		return filepath.Join(dir, "session.jsonl"), err
	},
	"back from the trash": func(power, fs afero.Fs) (string, error) {
		s, _ := kit.Rooted(power, 1) // the first part cannot fail
		trashed, err := upkeep.Trash(s, kit.MovedFrom)
		if err != nil {
			return "", err
		}
		s, _ = kit.Rooted(fs, 2)
		return upkeep.Untrash(s, trashed)
	},
	"to another project": func(_, fs afero.Fs) (string, error) {
		s, _ := kit.Rooted(fs, 1)
		return upkeep.Relocate(s, kit.MovedFrom, "/home/zed/q")
	},
}

// TestALossOfPowerLosesNothingMoved cuts the power at every step of a move, within a file system and
// to another one. The session and its artifacts are complete in one place, and after a move that
// succeeded in the new one.
// Proves: F-11
func TestALossOfPowerLosesNothingMoved(t *testing.T) {
	t.Parallel()
	for name, move := range moves {
		for _, apart := range []string{"", kit.ZedTrash, filepath.Dir(movedTo)} {
			t.Run(fmt.Sprintf("%s, apart %q", name, apart), func(t *testing.T) {
				t.Parallel()
				for at := 1; losesNothing(t, apart, at, move); at++ {
				}
			})
		}
	}
}

// losesNothing moves a session while the machine stops at step at, and reports whether that was
// reached.
func losesNothing(t *testing.T, apart string, at int, move func(power, fs afero.Fs) (string, error)) bool {
	t.Helper()
	power := st.NewPowerFs()
	shelve(t, power)
	power.Settle(t)
	text := kit.Content(t, power, kit.MovedFrom)
	broken := &st.FaultFs{Fs: devices{Fs: power, apart: apart}, At: at, Mode: st.Dead}
	path, err := move(devices{Fs: power, apart: apart}, broken)
	if !broken.Fired() {
		require.NoError(t, err)
	}
	kit.EveryLoss(t, power, func(t *testing.T, disk afero.Fs) {
		if !broken.Fired() {
			requireSession(t, text, kit.Content(t, disk, path))
		}
		left, sessions := map[string]bool{}, 0
		for name, content := range holdings(t, disk) {
			switch {
			case strings.HasSuffix(name, ".jsonl") && sameSession(text, content):
				left["session"] = true
				sessions++
			case strings.HasSuffix(name, "/0.bash.log") && content == "output":
				left["output"] = true
			case strings.HasSuffix(name, "/Sub/Sub.jsonl") && content == "{}":
				left["nested"] = true
			}
		}
		require.Len(t, left, 3, "step %d: %v of\n%v", at, left, holdings(t, disk))
		if !broken.Fired() {
			require.Equal(t, 1, sessions, "it is no longer where it was")
		}
	})
	return broken.Fired()
}

// sameSession reports whether b is a, whichever project its header names.
func sameSession(a, b string) bool {
	return strings.ReplaceAll(b, "/home/zed/q", "/home/zed/p") == a
}

func requireSession(t *testing.T, want, got string) {
	t.Helper()
	require.True(t, sameSession(want, got), got)
}

// TestALossOfPowerLosesNoImage cuts the power at every step of a collection of unused images.
// Proves: F-11
func TestALossOfPowerLosesNoImage(t *testing.T) {
	t.Parallel()
	hashes := blobHashes(3)
	for _, apart := range []string{"", kit.ZedTrash} {
		for at, reached := 1, true; reached; at++ {
			power := st.NewPowerFs()
			shelve(t, power)
			for _, hash := range hashes {
				shelveOld(t, power, zedBlobs+"/"+hash, "image "+hash, 48*time.Hour)
			}
			power.Settle(t)
			broken := &st.FaultFs{Fs: devices{Fs: power, apart: apart}, At: at, Mode: st.Dead}
			r, err := garbage(t, broken, upkeep.GCOptions{}).Remove(t.Context())
			if reached = broken.Fired(); !reached {
				require.NoError(t, err)
				require.Len(t, r.Moved, 3)
			}
			kit.EveryLoss(t, power, func(t *testing.T, disk afero.Fs) {
				places := map[string][]string{}
				for name, content := range holdings(t, disk) {
					places[content] = append(places[content], name)
				}
				for _, hash := range hashes {
					require.NotEmpty(t, places["image "+hash], "step %d", at)
					if !reached {
						require.Len(t, places["image "+hash], 1)
						require.Contains(t, places["image "+hash][0], kit.ZedTrash)
					}
				}
			})
		}
	}
}
