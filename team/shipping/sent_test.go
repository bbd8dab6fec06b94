package shipping_test

import (
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
	"github.com/xcsh-ls/xcsh-ls/team/shipping"
)

// TestSentIsReadWithoutTheChecksums and not for another file.
func TestSentIsReadWithoutTheChecksums(t *testing.T) {
	t.Parallel()
	states := shipping.States{Fs: afero.NewMemMapFs(), Dir: stateDir}
	_, ok := states.Sent(headerID, fileName)
	require.False(t, ok)
	want := agreed(t, shipping.CurrentRules)
	require.NoError(t, states.Save(headerID, want))
	sent, ok := states.Sent(headerID, fileName)
	require.True(t, ok)
	require.Equal(t, want.SID, sent.SID)
	require.Equal(t, want.Out.File().Len, sent.Len)
	require.False(t, sent.At.IsZero())
	_, ok = states.Sent(headerID, "another.jsonl")
	require.False(t, ok)
	require.NoError(t, afero.WriteFile(states.Fs, stateFile, []byte("{"), 0o600))
	_, ok = states.Sent(headerID, fileName)
	require.False(t, ok)
}

// TestAllStatesAreForgotten or the error is returned, also without any.
func TestAllStatesAreForgotten(t *testing.T) {
	t.Parallel()
	for at := 1; at > 0; at++ {
		fsys := afero.NewMemMapFs()
		states := shipping.States{Fs: fsys, Dir: stateDir}
		require.NoError(t, states.ForgetAll())
		for _, id := range []string{headerID, "b", "c"} {
			require.NoError(t, states.Save(id, agreed(t, 0)))
		}
		broken := &st.FaultFs{Fs: fsys, At: at, Mode: st.Once, Reads: true}
		states.Fs = broken
		err := states.ForgetAll()
		if !broken.Fired() {
			require.NoError(t, err)
			at = -1
		} else {
			require.Equal(t, fault.IO, fault.KindOf(err))
			states.Fs = fsys
			require.NoError(t, states.ForgetAll())
		}
		files, err := afero.ReadDir(fsys, stateDir)
		require.NoError(t, err)
		require.Empty(t, files)
	}
}
