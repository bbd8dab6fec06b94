package artifact_test

import (
	"path/filepath"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
	"github.com/xcsh-ls/xcsh-ls/internal/sessiontest/kit"
)

// TestALossOfPowerKeepsArtifacts cuts the power after the first artifact of a session was closed.
func TestALossOfPowerKeepsArtifacts(t *testing.T) {
	t.Parallel()
	power := st.NewPowerFs()
	s := artifactStore(power)
	id := keepArtifact(t, s, artifactSession, "bash", "a long output")
	kit.EveryLoss(t, power, func(t *testing.T, disk afero.Fs) {
		list, err := dirOf(artifactStore(disk), artifactSession).List()
		require.NoError(t, err)
		require.Len(t, list, 1)
		require.Equal(t, id, list[0].ID)
		require.Equal(t, "a long output", kit.Content(t, disk, filepath.Join(artifactDir, list[0].Name)))
	})
}
