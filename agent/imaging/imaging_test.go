package imaging_test

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/jpeg"
	"image/png"
	"math/rand"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/imaging"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/internal/racetest"
)

func block(mime string, content []byte) provider.Block {
	return provider.Block{Type: provider.TypeImage, MimeType: mime, Data: base64.StdEncoding.EncodeToString(content)}
}

func pngOf(t *testing.T, in image.Image) provider.Block {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, (&png.Encoder{CompressionLevel: png.NoCompression}).Encode(&b, in))
	return block("image/png", b.Bytes())
}

// noise does not compress.
func noise(w, h int) *image.NRGBA {
	in := image.NewNRGBA(image.Rect(0, 0, w, h))
	r := rand.New(rand.NewSource(1))
	r.Read(in.Pix)
	return in
}

func sizeOf(t *testing.T, b provider.Block) (w, h int, format string) {
	t.Helper()
	require.Equal(t, provider.TypeImage, b.Type, b.Text)
	config, format, err := image.DecodeConfig(base64.NewDecoder(base64.StdEncoding, strings.NewReader(b.Data)))
	require.NoError(t, err)
	require.Equal(t, "image/"+format, b.MimeType)
	return config.Width, config.Height, format
}

func TestImagesThatFitAreUnchanged(t *testing.T) {
	t.Parallel()
	small := pngOf(t, image.NewGray(image.Rect(0, 0, imaging.MaxSide, 3)))
	assert.Equal(t, small, imaging.Fit(small))
	unknown := block("image/heic", []byte("of a format that is not known here"))
	assert.Equal(t, unknown, imaging.Fit(unknown), "the service may know it")
	broken := provider.Block{Type: provider.TypeImage, MimeType: "image/png", Data: "not base64!"}
	assert.Equal(t, broken, imaging.Fit(broken))
}

// Proves: F-17
func TestImagesAreScaled(t *testing.T) {
	t.Parallel()
	racetest.Large(t)
	w, h, format := sizeOf(t, imaging.Fit(pngOf(t, image.NewGray(image.Rect(0, 0, 9000, 10)))))
	assert.Equal(t, []any{2000, 2, "png"}, []any{w, h, format})
	w, h, _ = sizeOf(t, imaging.Fit(pngOf(t, image.NewGray(image.Rect(0, 0, 1, 9000)))))
	assert.Equal(t, []int{1, 2000}, []int{w, h}, "no side vanishes")

	large := pngOf(t, noise(1100, 1100)) // 6 MB
	require.Greater(t, len(large.Data), imaging.MaxBase64)
	fitted := imaging.Fit(large)
	_, _, format = sizeOf(t, fitted)
	assert.Equal(t, "jpeg", format, "a photo")
	assert.LessOrEqual(t, len(fitted.Data), imaging.MaxBase64)

	var photo bytes.Buffer
	require.NoError(t, jpeg.Encode(&photo, image.NewYCbCr(image.Rect(0, 0, 4000, 3000), image.YCbCrSubsampleRatio420), nil))
	w, h, format = sizeOf(t, imaging.Fit(block("image/jpeg", photo.Bytes())))
	assert.Equal(t, []any{2000, 1500, "jpeg"}, []any{w, h, format})
}

// bomb is a PNG that claims to be enormous in a few bytes.
func bomb(side uint32) []byte {
	header := binary.BigEndian.AppendUint32([]byte("IHDR"), side)
	header = append(binary.BigEndian.AppendUint32(header, side), 8, 6, 0, 0, 0)
	out := append([]byte("\x89PNG\r\n\x1a\n"), 0, 0, 0, 13)
	out = append(out, header...)
	return binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(header))
}

// An image of a repository must not take all the memory.
// Proves: F-17
func TestImagesOfTooManyPixelsAreOmitted(t *testing.T) {
	t.Parallel()
	for _, side := range []uint32{8000, 60_000} {
		fitted := imaging.Fit(block("image/png", bomb(side)))
		assert.Equal(t, provider.TypeText, fitted.Type)
		assert.Contains(t, fitted.Text, "image omitted")
	}
	torn := imaging.Fit(block("image/png", bomb(3000)))
	assert.Contains(t, torn.Text, "cannot be decoded")
	huge := imaging.Fit(block("image/png", make([]byte, imaging.MaxBase64)))
	assert.Contains(t, huge.Text, "cannot be scaled")
}

// Proves: F-17
func TestMessages(t *testing.T) {
	t.Parallel()
	wide := pngOf(t, image.NewGray(image.Rect(0, 0, 9000, 10)))
	small := pngOf(t, image.NewGray(image.Rect(0, 0, 1, 1)))
	in := []provider.Message{
		{Role: provider.RoleUser, Timestamp: 1, Content: []provider.Block{provider.Text("a"), wide, small}},
		{Role: provider.RoleUser, Timestamp: 2, Content: []provider.Block{provider.Text("b")}},
	}
	var f imaging.Fitter
	for range 2 {
		out := f.Messages(in)
		w, _, _ := sizeOf(t, out[0].Content[1])
		assert.Equal(t, 2000, w)
		assert.Equal(t, small, out[0].Content[2])
		assert.Equal(t, wide, in[0].Content[1], "what comes in is not changed")
	}

	// Seven images of 4 MB are more than a request can have: the newest stay.
	full := block("image/heic", make([]byte, 3<<20))
	var many []provider.Message
	for range 7 {
		many = append(many, provider.Message{Role: provider.RoleUser, Content: []provider.Block{full}})
	}
	var kept string
	for _, m := range f.Messages(many) {
		kept += m.Content[0].Type[:1]
	}
	assert.Equal(t, "ttiiiii", kept)

	out, found := imaging.Without(in, 1, "because")
	assert.True(t, found)
	assert.Equal(t, "(image omitted: because)", out[0].Content[1].Text)
	_, found = imaging.Without(in, 0, "because")
	assert.False(t, found, "newer images stay")
}
