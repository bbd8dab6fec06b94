package session_test

import (
	"encoding/base64"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
	"github.com/xcsh-ls/xcsh-ls/internal/sessiontest/kit"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// TestALossOfPowerLosesNothingFlushed cuts the power after each operation was flushed. Every
// acknowledged entry is in the file, once, and the session continues.
// Proves: X-106, F-11
func TestALossOfPowerLosesNothingFlushed(t *testing.T) {
	t.Parallel()
	for name, op := range operations {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			power, w := poweredTrial(t, op.file)
			path, err := op.run(w)
			require.NoError(t, err)
			if w.Last != nil {
				require.NoError(t, w.Last.Flush())
			}
			kit.EveryLoss(t, power, func(t *testing.T, disk afero.Fs) {
				if path == "" {
					path = w.Path
				}
				w.RequireContinues(disk, path)
			})
		})
	}
}

// TestALossOfPowerLosesNothingOld cuts the power at every step of each operation. Every entry that
// the file held before the operation is still there.
// Proves: X-107, F-11
func TestALossOfPowerLosesNothingOld(t *testing.T) {
	t.Parallel()
	for name, op := range operations {
		if name == "append to a file that was deleted" || name == "breadcrumb" || name == "migrate" {
			continue // nothing old is left, or it has no ids
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for at := 1; ; at++ {
				power, w := poweredTrial(t, op.file)
				w.Faulty.At, w.Faulty.Mode = at, st.Dead
				_, _ = op.run(w)
				kit.EveryLoss(t, power, func(t *testing.T, disk afero.Fs) {
					text := kit.Content(t, disk, w.Path)
					for _, id := range []string{"aaaaaaaa", "bbbbbbbb"} {
						require.Equal(t, 1, strings.Count(text, `"id":"`+id+`"`), "fault %d: %s in\n%s", at, id, text)
					}
				})
				if !w.Faulty.Fired() {
					return
				}
			}
		})
	}
}

// poweredTrial is a trial on storage that can lose power.
func poweredTrial(t *testing.T, file func() string) (*st.PowerFs, *kit.Trial) {
	t.Helper()
	text := kit.Conversation()
	if file != nil {
		text = file()
	}
	power := st.NewPowerFs()
	w := kit.NewTrialOn(t, power, text, 0, st.Once, false)
	power.Settle(t)
	return power, w
}

// TestALossOfPowerKeepsNewDirectories creates sessions in directories that do not exist yet.
func TestALossOfPowerKeepsNewDirectories(t *testing.T) {
	t.Parallel()
	power, w := poweredTrial(t, nil)
	l, err := w.S.CreateAt(filepath.Join(filepath.Dir(w.Dir), "new", "deep", "named.jsonl"), "/w")
	require.NoError(t, err)
	require.NoError(t, errors.Join(w.Append(l, kit.Say("user", "x")), w.Append(l, kit.Say("assistant", "y")), l.Flush()))
	kit.EveryLoss(t, power, func(t *testing.T, disk afero.Fs) { w.RequireContinues(disk, l.Path()) })
}

// TestALossOfPowerKeepsImages checks that an entry never refers to an image that is gone.
func TestALossOfPowerKeepsImages(t *testing.T) {
	t.Parallel()
	power, w := poweredTrial(t, nil)
	image := make([]byte, 20000)
	random := rand.New(rand.NewPCG(1, 2))
	for i := range image {
		image[i] = byte(random.Uint32())
	}
	require.NoError(t, errors.Join(w.Append(w.Log, imageMessage(base64.StdEncoding.EncodeToString(image))), w.Log.Flush()))
	require.NotContains(t, kit.Content(t, power, w.Path), base64.StdEncoding.EncodeToString(image), "the image is in a file of its own")
	kit.EveryLoss(t, power, func(t *testing.T, disk afero.Fs) {
		blobs, err := afero.ReadDir(disk, filepath.Join(filepath.Dir(w.Dir), "blobs"))
		require.NoError(t, err)
		require.Len(t, blobs, 1)
		require.Equal(t, string(image), kit.Content(t, disk, filepath.Join(filepath.Dir(w.Dir), "blobs", blobs[0].Name())))
	})
}

// TestALossOfPowerInALargeAppend cuts the power in the middle of lines of many pages: what follows
// the last flush may be damaged, and nothing before it.
func TestALossOfPowerInALargeAppend(t *testing.T) {
	t.Parallel()
	power, w := poweredTrial(t, nil)
	require.NoError(t, errors.Join(w.Append(w.Log, kit.Say("user", "flushed")), w.Log.Flush()))
	kept := w.Log.LeafID()
	for i := range 5 {
		require.NoError(t, w.Append(w.Log, kit.Say("assistant", strings.Repeat(fmt.Sprint(i), 9000))))
	}
	kit.EveryLoss(t, power, func(t *testing.T, disk afero.Fs) {
		s := session.NewStore(session.StoreConfig{Fs: disk})
		doc, err := s.Load(w.Path)
		require.NoError(t, err)
		defer func() { require.NoError(t, doc.Close()) }()
		for _, id := range []string{"aaaaaaaa", "bbbbbbbb", kept} {
			_, err := doc.Index(id)
			require.NoError(t, err, id)
		}
	})
}
