package agent_test

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/png"
	"math/rand"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/agent/imaging"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
)

// photo is an image of more than 4.5 MB.
func photo(t *testing.T) provider.Block {
	t.Helper()
	in := image.NewNRGBA(image.Rect(0, 0, 1100, 1100))
	rand.New(rand.NewSource(1)).Read(in.Pix)
	var b bytes.Buffer
	require.NoError(t, (&png.Encoder{CompressionLevel: png.NoCompression}).Encode(&b, in))
	require.Greater(t, b.Len(), imaging.MaxBase64)
	return provider.Block{Type: provider.TypeImage, MimeType: "image/png", Data: base64.StdEncoding.EncodeToString(b.Bytes())}
}

func TestPromptImagesAreScaled(t *testing.T) {
	t.Parallel()
	m := scripted(providertest.Reply{Text: "Nice."})
	w := newWorld(t, afero.NewMemMapFs(), withModel(m))
	live := w.live(t, "/w")
	_, err := live.Prompt(t.Context(), agent.Input{Text: "look", Images: []provider.Block{photo(t)}})
	require.NoError(t, err)
	info, err := w.fs.Stat(live.File())
	require.NoError(t, err)
	assert.Less(t, info.Size(), int64(imaging.MaxBase64+10_000), "the file has the scaled image, too")
}

// A service that rejects an image fails the request in which it is, and every one after it.
func TestARejectedImageIsLeftOut(t *testing.T) {
	t.Parallel()
	for api := range clients {
		t.Run(string(api), func(t *testing.T) {
			t.Parallel()
			s := newService(t, api)
			s.Limit("m", providertest.Limits{NoImages: true})
			s.Script("m", providertest.Reply{Text: "I see."})
			w := newWorld(t, afero.NewMemMapFs(), withService(s))
			live := w.live(t, "/w")
			small := provider.Block{Type: provider.TypeImage, MimeType: "image/png", Data: base64.StdEncoding.EncodeToString([]byte("broken"))}
			_, err := live.Prompt(t.Context(), agent.Input{Text: "look", Images: []provider.Block{small}})
			require.NoError(t, err)
			notices := eventsOf[event.Notice](w)
			require.Len(t, notices, 1)
			assert.Contains(t, notices[0].Text, "rejected an image")
			require.Len(t, s.Requests(), 2)
			assert.Contains(t, s.Requests()[1].LastText(), "image omitted: the model service rejected an image")

			prompt(t, live, "and now?")
			require.Len(t, s.Requests(), 3, "it is not tried again")
		})
	}
}
