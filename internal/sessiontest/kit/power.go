package kit

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
)

// EveryLoss runs check on what storage can hold after a loss of power.
func EveryLoss(t *testing.T, power *st.PowerFs, check func(t *testing.T, disk afero.Fs)) {
	t.Helper()
	check(t, power.After(t, st.Loss{}))
	check(t, power.After(t, st.Loss{Names: true}))
	for seed := range uint64(8) {
		for _, names := range []bool{false, true} {
			check(t, power.After(t, st.Loss{Names: names, Content: rand.New(rand.NewPCG(seed, 1))}))
		}
	}
}

// RequireContinues requires that the file at path on disk has everything that was acknowledged, once,
// and that the session continues.
func (w *Trial) RequireContinues(disk afero.Fs, path string) {
	w.T.Helper()
	before := w.Base
	defer func() { w.Base = before }()
	w.Base = disk
	w.requireKept(path, w.Acked)
	next, err := w.store(disk, 2).Open(path)
	require.NoError(w.T, err)
	id, err := next.Append(Say("user", fmt.Sprint("after the loss of ", path)))
	require.NoError(w.T, err)
	require.NoError(w.T, next.Close())
	w.requireKept(path, append(w.Acked, id))
}
