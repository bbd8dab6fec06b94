package imaging

import (
	"image"
	"image/color"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestTransparencyBecomesWhite(t *testing.T) {
	t.Parallel()
	in := image.NewNRGBA(image.Rect(0, 0, 2, 1))
	in.Set(1, 0, color.NRGBA{R: 255, A: 255})
	out := onWhite(in)
	assert.Equal(t, color.RGBA{R: 255, G: 255, B: 255, A: 255}, out.At(0, 0))
	assert.Equal(t, color.RGBA{R: 255, A: 255}, out.At(1, 0))
}
