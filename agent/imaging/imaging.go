// Package imaging makes images fit the limits of model services: scaled down if they are too large,
// left out with a note if they cannot be scaled.
package imaging

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	_ "image/gif" // registers the format
	"image/jpeg"
	"image/png"
	"io"
	"strings"
	"sync"

	scale "golang.org/x/image/draw"
	_ "golang.org/x/image/webp" // registers the format

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// The limits of one image. Services refuse more than 5 MB of base64 and, in a conversation with many
// images, more than 2,000 pixels a side; larger ones they scale down themselves.
const (
	MaxBase64 = 9 << 19 // 4.5 MiB
	MaxSide   = 2000    // pixels
)

// maxPixels bounds the memory that decoding an image takes, to about 200 MB.
const maxPixels = 50 << 20

// one lets one image at a time be scaled.
var one sync.Mutex

// Fit returns a block with the image, scaled down if it exceeds the limits. If it cannot be sent,
// Fit returns a text block with the reason. An image that cannot be decoded but is small enough is
// returned unchanged: services know more formats.
func Fit(b provider.Block) provider.Block {
	fitted, err := Scaled(b)
	if err != nil {
		return omitted(err.Error())
	}
	return fitted
}

// Scaled is [Fit] with the reason as an error, which continues a sentence.
func Scaled(b provider.Block) (provider.Block, error) {
	if done, err := unscaled(b); done || err != nil {
		return b, err
	}
	return shrink(b.Data)
}

// TypeOf returns the MIME type of an image that services accept by its first bytes, and "" for
// everything else.
func TypeOf(content []byte) string {
	switch {
	case bytes.HasPrefix(content, []byte("\x89PNG\r\n\x1a\n")):
		return "image/png"
	case bytes.HasPrefix(content, []byte("\xff\xd8\xff")):
		return "image/jpeg"
	case bytes.HasPrefix(content, []byte("GIF87a")), bytes.HasPrefix(content, []byte("GIF89a")):
		return "image/gif"
	case len(content) >= 12 && string(content[:4]) == "RIFF" && string(content[8:12]) == "WEBP":
		return "image/webp"
	default:
		return ""
	}
}

// unscaled reports whether an image need not be scaled, and returns an error if it cannot be. It reads
// only the image's header.
func unscaled(b provider.Block) (done bool, err error) {
	if strings.HasPrefix(b.Data, session.BlobPrefix) { // a reference that could not be resolved
		return false, errors.New("its file is missing")
	}
	config, _, failed := image.DecodeConfig(base64.NewDecoder(base64.StdEncoding, strings.NewReader(b.Data)))
	unknown, large := failed != nil || config.Width <= 0 || config.Height <= 0, len(b.Data) > MaxBase64
	switch {
	case unknown && large:
		return false, fmt.Errorf("it is larger than %d MB and cannot be scaled", MaxBase64>>20)
	case unknown || !large && config.Width <= MaxSide && config.Height <= MaxSide:
		return true, nil
	case config.Width > maxPixels/config.Height:
		return false, fmt.Errorf("%d × %d pixels are too many", config.Width, config.Height)
	}
	return false, nil
}

func omitted(reason string) provider.Block {
	return provider.Text("(image omitted: " + reason + ")")
}

// shrink scales an image to MaxSide and encodes it in fewer bytes than allowed.
func shrink(data string) (provider.Block, error) {
	one.Lock()
	defer one.Unlock()
	content, err := base64.StdEncoding.DecodeString(data)
	if err != nil {
		return provider.Block{}, fmt.Errorf("it cannot be decoded: %w", err)
	}
	in, format, err := image.Decode(bytes.NewReader(content))
	if err != nil {
		return provider.Block{}, fmt.Errorf("it cannot be decoded: %w", err)
	}
	orientation := upright
	if format == "jpeg" {
		orientation = orientationOf(content) // encoding it again loses the tag
	}
	for side := MaxSide; side >= MaxSide/8; side /= 2 {
		small := turned(scaled(in, side), orientation)
		if format != "jpeg" {
			if b, ok := encoded("image/png", func(w io.Writer) error { return png.Encode(w, small) }); ok {
				return b, nil
			}
		}
		for _, quality := range []int{85, 60, 40} {
			b, ok := encoded("image/jpeg", func(w io.Writer) error {
				return jpeg.Encode(w, onWhite(small), &jpeg.Options{Quality: quality})
			})
			if ok {
				return b, nil
			}
		}
	}
	return provider.Block{}, fmt.Errorf("it cannot be made smaller than %d MB", MaxBase64>>20)
}

// encoded returns the block of an encoding, unless it is too large.
func encoded(mime string, encode func(io.Writer) error) (b provider.Block, ok bool) {
	var out bytes.Buffer
	if encode(&out) != nil || base64.StdEncoding.EncodedLen(out.Len()) > MaxBase64 {
		return provider.Block{}, false
	}
	return provider.Block{Type: provider.TypeImage, MimeType: mime, Data: base64.StdEncoding.EncodeToString(out.Bytes())}, true
}

// scaled returns the image with no side longer than side.
func scaled(in image.Image, side int) *image.NRGBA {
	w, h := in.Bounds().Dx(), in.Bounds().Dy()
	if longest := max(w, h); longest > side {
		w, h = max(1, w*side/longest), max(1, h*side/longest)
	}
	out := image.NewNRGBA(image.Rect(0, 0, w, h))
	scale.ApproxBiLinear.Scale(out, out.Bounds(), in, in.Bounds(), draw.Src, nil)
	return out
}

// onWhite returns the image without transparency, which JPEG does not have.
func onWhite(in image.Image) image.Image {
	out := image.NewRGBA(in.Bounds())
	draw.Draw(out, out.Bounds(), image.NewUniform(color.White), image.Point{}, draw.Src)
	draw.Draw(out, out.Bounds(), in, in.Bounds().Min, draw.Over)
	return out
}
