package filesums

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// random returns n bytes.
func random(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{7}).Read(b) // it cannot fail
	return b
}

// memory is a file in memory.
type memory struct {
	*bytes.Reader
	open *atomic.Int64
}

func (m memory) Close() error {
	m.open.Add(-1)
	return nil
}

// compare compares content with the sums and requires that every file is closed again.
func compare(t *testing.T, c Sums, content []byte) error {
	t.Helper()
	var open atomic.Int64
	err := c.Compare(func() (File, error) {
		open.Add(1)
		return memory{bytes.NewReader(content), &open}, nil
	}).Err()
	require.Zero(t, open.Load())
	return err
}

func TestEveryByteIsCompared(t *testing.T) {
	t.Parallel()
	for _, size := range []int{200, chunkSize + 100, 3*chunkSize + 100, 3*chunkSize + 99} {
		content := random(size)
		c := Of(content, 100)
		require.True(t, c.Valid())
		require.NoError(t, compare(t, c, content))
		require.NoError(t, compare(t, c, append(bytes.Clone(content), "more"...)))
		require.ErrorIs(t, compare(t, c, content[:size-1]), io.ErrUnexpectedEOF)
		for _, at := range []int{100, 150, size / 2, size - 1} {
			changed := bytes.Clone(content)
			changed[at] ^= 1
			require.ErrorIs(t, compare(t, c, changed), ErrOtherBytes, "%d of %d", at, size)
		}
		changed := bytes.Clone(content)
		changed[99] ^= 1
		require.NoError(t, compare(t, c, changed), "before the sums")
	}
}

func TestSumsGoOn(t *testing.T) {
	t.Parallel()
	content := random(4*chunkSize + 333)
	want := Of(content, 10)
	for _, size := range []int{11, chunkSize, chunkSize + 10, 3*chunkSize + 10, 3*chunkSize + 500, len(content)} {
		part := Of(content[:size], 10)
		grown, err := part.Grown(bytes.NewReader(content), int64(len(content)))
		require.NoError(t, err)
		require.Equal(t, want, grown)
		require.True(t, want.Agrees(part))
		require.True(t, part.Agrees(want))
		r, err := part.Continue(bytes.NewReader(content), int64(len(content)))
		require.NoError(t, err)
		rest, err := io.ReadAll(r)
		require.NoError(t, err)
		require.Equal(t, string(content[size:]), string(rest))
		require.Equal(t, want, r.End())
		_, err = part.Grown(bytes.NewReader(content[:len(content)-1]), int64(len(content)))
		if size < len(content) {
			require.ErrorIs(t, err, io.ErrUnexpectedEOF)
		}
		changed := bytes.Clone(content)
		changed[size-1] ^= 1
		if _, err = part.Grown(bytes.NewReader(changed), int64(len(content))); (size-10)%chunkSize != 0 {
			require.ErrorIs(t, err, ErrOtherBytes, "the last chunk is read in any case")
		}
		require.False(t, want.Agrees(Of(changed, 10)))
	}
}

// A look finds what moved by a byte, and a change in a sample.
func TestALook(t *testing.T) {
	t.Parallel()
	content := random(60*chunkSize + 333)
	c := Of(content, 10)
	require.NoError(t, c.Look(bytes.NewReader(content)))
	moved := append(bytes.Clone(content[:59*chunkSize]), content[59*chunkSize+1:]...)
	require.ErrorIs(t, c.Look(bytes.NewReader(append(moved, 0))), ErrOtherBytes)
	for _, at := range []int{10, 521, 60*chunkSize + 10, 60*chunkSize + 332} {
		changed := bytes.Clone(content)
		changed[at] ^= 1
		require.ErrorIs(t, c.Look(bytes.NewReader(changed)), ErrOtherBytes, "at %d", at)
	}
	require.Error(t, c.Look(bytes.NewReader(content[:50*chunkSize])))
}

func TestAComparisonEnds(t *testing.T) {
	t.Parallel()
	content := random(2 * chunkSize)
	c := Of(content, 1)
	gate := make(chan struct{})
	x := c.Compare(func() (File, error) {
		<-gate
		return memory{bytes.NewReader(content), new(atomic.Int64)}, nil
	})
	require.False(t, x.Ended())
	require.False(t, x.Failed())
	failure := errors.New("other")
	x.Fail(failure)
	require.True(t, x.Failed())
	close(gate)
	x.Stop()
	require.True(t, x.Ended())
	require.ErrorIs(t, x.Err(), failure, "the first one")
	x = c.Compare(func() (File, error) { return nil, failure })
	<-x.Done()
	require.ErrorIs(t, x.Err(), failure)
}
