package publish_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/team"
)

func imageLine(n int, h team.Sum) string {
	return fmt.Sprintf(`{"type":"message","id":"i%d","message":{"role":"user","content":[{"type":"image","data":"blob:sha256:%s"}]}}`+"\n", n, h)
}

// TestImagesArriveBeforeTheirLines, each once; one that is missing here does not hold up lines.
func TestImagesArriveBeforeTheirLines(t *testing.T) {
	t.Parallel()
	w := newWorld()
	m := w.machine(t, "ann")
	image := []byte("an image")
	h, missing := team.SumOf(image), team.SumOf([]byte("missing"))
	reads := 0
	m.image = func(sum team.Sum) ([]byte, error) {
		reads++
		if sum != h {
			return nil, fault.New(fault.NotFound, "No such image.")
		}
		return image, nil
	}
	f := &faulty{Store: m.login}
	m.wrap = func(team.Store) team.Store { return f }
	m.put(imageLine(1, h) + imageLine(2, h) + imageLine(3, missing) + `{"text":"\"blob:sha256:` + team.SumOf(nil).String() + `\""}` + "\n")
	m.sent()
	require.Equal(t, []string{"project", "open", "tip", "lacks", "image", "append", "head", "sethead"}, f.calls)
	require.Equal(t, 2, reads)
	b, err := m.login.Blob(t.Context(), 1, h)
	require.NoError(t, err)
	require.Equal(t, image, b)
	f.calls = nil
	m.add(imageLine(4, h))
	m.sent()
	require.Equal(t, []string{"append", "head", "sethead"}, f.calls)
	m.put(imageLine(5, h))
	m.sent()
	m.restart(true)
	m.image = func(team.Sum) ([]byte, error) { return nil, fault.New(fault.IO, "The test cannot read.") }
	m.add(imageLine(6, team.SumOf([]byte("other"))))
	left := m.flush()
	require.Equal(t, 1, left.Sessions)
	require.True(t, fault.Is(left.Err, fault.IO))
}

// TestEachFaultWithImages fails each call once: lines never arrive before their images.
func TestEachFaultWithImages(t *testing.T) {
	t.Parallel()
	image := []byte("an image")
	for _, lost := range []bool{false, true} {
		for at := 1; at > 0; at++ {
			w := newWorld()
			m := w.machine(t, "ann")
			m.image = func(team.Sum) ([]byte, error) { return image, nil }
			f := &faulty{Store: m.login, at: at, lost: lost, dead: true}
			m.wrap = func(team.Store) team.Store { return f }
			m.put(imageLine(1, team.SumOf(image)))
			m.flush()
			for _, s := range w.sessions(t) {
				if s.body != "" {
					_, err := m.login.Blob(t.Context(), 1, team.SumOf(image))
					require.NoError(t, err)
				}
			}
			if !f.fired() {
				at = -1
			}
			m.wrap = nil
			m.restart(lost)
			m.sent()
			_, err := m.login.Blob(t.Context(), 1, team.SumOf(image))
			require.NoError(t, err)
		}
	}
}

// TestADeletedSessionGetsNoImages.
func TestADeletedSessionGetsNoImages(t *testing.T) {
	t.Parallel()
	w := newWorld()
	m := w.machine(t, "ann")
	m.image = func(team.Sum) ([]byte, error) { return []byte("an image"), nil }
	m.put(lines("a", 0, 2))
	sid := m.sent()
	require.NoError(t, m.login.Delete(t.Context(), sid, false))
	m.add(imageLine(1, team.SumOf([]byte("an image"))))
	require.Zero(t, m.flush())
	require.Equal(t, 1, m.count(1))
	_, err := m.login.Blob(t.Context(), 1, team.SumOf([]byte("an image")))
	require.True(t, fault.Is(err, fault.NotFound))
}
