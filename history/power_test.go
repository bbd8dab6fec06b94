package history_test

import (
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
	"github.com/xcsh-ls/xcsh-ls/internal/sessiontest/kit"
)

// TestALossOfPowerKeepsPrompts cuts the power while a prompt waits for its answer. The directory of
// the journal is new, as on a first start.
// Proves: F-06
func TestALossOfPowerKeepsPrompts(t *testing.T) {
	t.Parallel()
	power := st.NewPowerFs()
	say(keeper(t, power), "an important question")
	kit.EveryLoss(t, power, func(t *testing.T, disk afero.Fs) {
		require.Equal(t, []string{"an important question"}, texts(keeper(t, disk).Unanswered("", "")))
	})
}
