package durable_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/durable"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
	"github.com/xcsh-ls/xcsh-ls/internal/sessiontest/kit"
)

// TestWriteFileSurvivesALossOfPower cuts the power after a first and a second write.
func TestWriteFileSurvivesALossOfPower(t *testing.T) {
	t.Parallel()
	power, path := st.NewPowerFs(), filepath.FromSlash("/new/deep/file")
	for _, content := range []string{"first", strings.Repeat("second ", 2000)} {
		require.NoError(t, durable.WriteFile(power, path, []byte(content), 0o600))
		kit.EveryLoss(t, power, func(t *testing.T, disk afero.Fs) {
			require.Equal(t, content, kit.Content(t, disk, path))
		})
	}
}

// TestWriteFileIsWholeOrNotAtAll fails every step of a second write, with and without a loss of power.
func TestWriteFileIsWholeOrNotAtAll(t *testing.T) {
	t.Parallel()
	path := filepath.FromSlash("/dir/file")
	for _, mode := range []st.Mode{st.Once, st.Dead, st.Short} {
		for at := 1; ; at++ {
			power := st.NewPowerFs()
			require.NoError(t, durable.WriteFile(power, path, []byte("before"), 0o600))
			power.Settle(t)
			broken := &st.FaultFs{Fs: power, At: at, Mode: mode}
			err := durable.WriteFile(broken, path, []byte("after"), 0o600)
			want := map[bool]string{true: "after", false: "before"}[err == nil]
			require.Equal(t, want, kit.Content(t, power, path), "step %d", at)
			if mode != st.Dead {
				names, err := afero.ReadDir(power, filepath.Dir(path))
				require.NoError(t, err)
				require.Len(t, names, 1, "step %d leaves nothing behind", at)
			}
			kit.EveryLoss(t, power, func(t *testing.T, disk afero.Fs) {
				require.Contains(t, []string{"before", want}, kit.Content(t, disk, path), "step %d", at)
			})
			if !broken.Fired() {
				require.NoError(t, err)
				require.Greater(t, at, 3)
				break
			}
			require.Error(t, err)
		}
	}
}
