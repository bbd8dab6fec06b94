package shipping_test

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
	"github.com/xcsh-ls/xcsh-ls/team/shipping"
)

const (
	stateDir  = "/a/xcsh-ls/team/state"
	headerID  = "01a1f87d-6acf-74fb-9f17-079846eae162"
	stateFile = stateDir + "/" + headerID + ".json"
	fileName  = "2026_01a1f87d.jsonl"
)

// agreed is a state after some lines were sent.
func agreed(t *testing.T, version int) shipping.State {
	t.Helper()
	o := shipping.NewOutgoing(rules(t, version))
	o.Sent(o.Batch(withSecrets(bytes.Repeat([]byte("line\n"), 50))))
	return shipping.State{File: fileName, SID: "3f2504e0-4f89-41d3-9a0c-0305e82c3301", Gen: 2, Fence: 7, Fork: "f", Tail: pointOf([]byte("tail")).Sum, Out: o}
}

func known(version int) (shipping.Rules, error) { return shipping.NewRules(version) }

// requireSame requires that two states continue alike.
func requireSame(t *testing.T, want, got shipping.State) {
	t.Helper()
	require.Equal(t, want.Out.File(), got.Out.File())
	require.Equal(t, want.Out.Out(), got.Out.Out())
	lines := []byte(st.User("a", "", key) + "\n")
	require.Equal(t, want.Out.Batch(lines).To, got.Out.Batch(lines).To)
	require.Equal(t, want.Out.Batch(lines).Bytes, got.Out.Batch(lines).Bytes)
	want.Out, got.Out = nil, nil
	require.Equal(t, want, got)
}

func TestAStateContinues(t *testing.T) {
	t.Parallel()
	for _, version := range []int{0, shipping.CurrentRules} {
		states := shipping.States{Fs: afero.NewMemMapFs(), Dir: stateDir}
		want := agreed(t, version)
		require.NoError(t, states.Save(headerID, want))
		got, ok := states.Load(headerID, fileName, known)
		require.True(t, ok)
		requireSame(t, want, got)
		_, ok = states.Load(headerID, "another.jsonl", known)
		require.False(t, ok, "two files may have one id")
		_, ok = states.Load(headerID, fileName, func(int) (shipping.Rules, error) { return shipping.NewRules(shipping.CurrentRules - version) })
		require.False(t, ok, "other rules")
		_, ok = states.Load(headerID, fileName, func(int) (shipping.Rules, error) { return shipping.NewRules(99) })
		require.False(t, ok)
		require.NoError(t, states.Forget(headerID))
		require.NoError(t, states.Forget(headerID))
		_, ok = states.Load(headerID, fileName, known)
		require.False(t, ok)
	}
	empty := shipping.State{File: fileName, Out: shipping.NewOutgoing(rules(t, 1))}
	states := shipping.States{Fs: afero.NewMemMapFs(), Dir: stateDir}
	require.NoError(t, states.Save(headerID, empty))
	got, ok := states.Load(headerID, fileName, known)
	require.True(t, ok)
	requireSame(t, empty, got)
}

// The file has the members of the specification.
func TestTheFormOfAState(t *testing.T) {
	t.Parallel()
	fsys := afero.NewMemMapFs()
	require.NoError(t, shipping.States{Fs: fsys, Dir: stateDir}.Save(headerID, agreed(t, 1)))
	content, err := afero.ReadFile(fsys, stateFile)
	require.NoError(t, err)
	var members map[string]any
	require.NoError(t, json.Unmarshal(content, &members))
	for _, name := range []string{"file", "sid", "gen", "len", "sum", "hash", "out", "rules", "fence"} {
		require.Contains(t, members, name)
	}
	info, err := fsys.Stat(stateFile)
	require.NoError(t, err)
	require.Equal(t, fs.FileMode(0o600), info.Mode().Perm())
}

// An id is any text and never leads out of the directory.
func TestIDsAreNoPaths(t *testing.T) {
	t.Parallel()
	fsys := afero.NewMemMapFs()
	states := shipping.States{Fs: fsys, Dir: stateDir}
	ids := []string{"", ".", "..", "../team", "a/b", `a\b`, "CON", "con", "A", "a", "é", strings.Repeat("x", 500), "\x00", "a.json", " "}
	for i, id := range ids {
		state := agreed(t, 0)
		state.Gen = i
		require.NoError(t, states.Save(id, state))
	}
	for i, id := range ids {
		state, ok := states.Load(id, fileName, known)
		require.True(t, ok, "%q", id)
		require.Equal(t, i, state.Gen, "%q", id)
	}
	left, err := afero.ReadDir(fsys, stateDir)
	require.NoError(t, err)
	require.Len(t, left, len(ids))
	above, err := afero.ReadDir(fsys, "/a/xcsh-ls/team")
	require.NoError(t, err)
	require.Len(t, above, 1)
}

// Whatever is wrong with the file, it is as if there was none, and never a state that was not.
func TestADamagedStateIsNone(t *testing.T) {
	t.Parallel()
	for _, version := range []int{0, shipping.CurrentRules} {
		fsys := afero.NewMemMapFs()
		states := shipping.States{Fs: fsys, Dir: stateDir}
		want := agreed(t, version)
		require.NoError(t, states.Save(headerID, want))
		content, err := afero.ReadFile(fsys, stateFile)
		require.NoError(t, err)
		for cut := range len(content) - 2 {
			require.NoError(t, afero.WriteFile(fsys, stateFile, content[:cut], 0o600))
			_, ok := states.Load(headerID, fileName, known)
			require.False(t, ok, "cut at %d", cut)
		}
		for i := range content {
			for _, flip := range []byte{1, 0x20} {
				changed := bytes.Clone(content)
				changed[i] ^= flip
				require.NoError(t, afero.WriteFile(fsys, stateFile, changed, 0o600))
				if got, ok := states.Load(headerID, fileName, known); ok { // the sums are right, or it would be none
					require.Equal(t, want.Out.File(), got.Out.File())
					require.Equal(t, want.Out.Out(), got.Out.Out())
				}
			}
		}
	}
}

// At each step that can fail, the state is afterwards the old one, the new one, or none.
func TestEveryStepOfSavingMayFail(t *testing.T) {
	t.Parallel()
	for _, mode := range []st.Mode{st.Once, st.Short, st.Dead} {
		for at := 1; ; at++ {
			base := afero.NewMemMapFs()
			was, is := agreed(t, 1), agreed(t, 1)
			is.Gen = 3
			require.NoError(t, shipping.States{Fs: base, Dir: stateDir}.Save(headerID, was))
			fsys := &st.FaultFs{Fs: base, At: at, Mode: mode, Reads: true}
			err := shipping.States{Fs: fsys, Dir: stateDir}.Save(headerID, is)
			got, ok := shipping.States{Fs: base, Dir: stateDir}.Load(headerID, fileName, known)
			require.True(t, ok)
			if err == nil {
				requireSame(t, is, got)
			} else {
				require.Equal(t, fault.IO, fault.KindOf(err))
				requireSame(t, was, got)
			}
			if !fsys.Fired() {
				require.Greater(t, at, 4)
				break
			}
		}
	}
	lost := 0
	for at := 1; at < 8; at++ { // a state that cannot be read is none
		base := afero.NewMemMapFs()
		require.NoError(t, shipping.States{Fs: base, Dir: stateDir}.Save(headerID, agreed(t, 1)))
		fsys := &st.FaultFs{Fs: base, At: at, Reads: true}
		got, ok := shipping.States{Fs: fsys, Dir: stateDir}.Load(headerID, fileName, known)
		if ok {
			requireSame(t, agreed(t, 1), got)
			continue
		}
		require.True(t, fsys.Fired())
		lost++
	}
	require.Greater(t, lost, 2)
	failing := shipping.States{Fs: &st.FaultFs{Fs: afero.NewMemMapFs(), At: 1}, Dir: stateDir}
	require.Equal(t, fault.IO, fault.KindOf(failing.Forget(headerID)))
}

// A loss of power may leave anything of a file that was not synced. It is then no state, or a right one.
func TestALossOfPowerCostsAComparison(t *testing.T) {
	t.Parallel()
	fsys := st.NewPowerFs()
	states := shipping.States{Fs: fsys, Dir: stateDir}
	want := agreed(t, 1)
	require.NoError(t, states.Save(headerID, want))
	for _, loss := range []st.Loss{{}, {Names: true}} {
		after := shipping.States{Fs: fsys.After(t, loss), Dir: stateDir}
		if got, ok := after.Load(headerID, fileName, known); ok {
			requireSame(t, want, got)
		}
		require.NoError(t, after.Save(headerID, want))
	}
}

func TestTailSum(t *testing.T) {
	t.Parallel()
	content := bytes.Repeat([]byte("0123456789"), 1000)
	sum, err := shipping.TailSum(bytes.NewReader(content), 5000)
	require.NoError(t, err)
	require.Equal(t, pointOf(content[904:5000]).Sum, sum)
	sum, err = shipping.TailSum(bytes.NewReader(content), 10)
	require.NoError(t, err)
	require.Equal(t, pointOf(content[:10]).Sum, sum)
	_, err = shipping.TailSum(bytes.NewReader(content), 10001)
	require.Equal(t, fault.Stale, fault.KindOf(err))
	sum, err = shipping.TailSum(bytes.NewReader(nil), 0)
	require.NoError(t, err)
	require.Equal(t, pointOf(nil).Sum, sum)
}

// FuzzState reads arbitrary files: no panic, and a state only if its checksums are right.
func FuzzState(f *testing.F) {
	f.Add([]byte(`{"file":"` + fileName + `","len":0,"rules":0}`))
	f.Fuzz(func(t *testing.T, content []byte) {
		fsys := afero.NewMemMapFs()
		require.NoError(t, afero.WriteFile(fsys, stateFile, content, 0o600))
		states := shipping.States{Fs: fsys, Dir: stateDir}
		got, ok := states.Load(headerID, fileName, known)
		if !ok {
			return
		}
		require.NoError(t, states.Save(headerID, got))
		again, ok := states.Load(headerID, fileName, known)
		require.True(t, ok)
		requireSame(t, got, again)
	})
}
