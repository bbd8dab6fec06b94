package imaging

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"image"
	"image/color"
	"image/jpeg"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// exif is a segment with a TIFF structure.
func exif(tiff []byte) []byte {
	body := append([]byte("Exif\x00\x00"), tiff...)
	return append(binary.BigEndian.AppendUint16([]byte{0xff, 0xe1}, uint16(len(body)+2)), body...)
}

// tiff is a structure whose directory has the entries (tag, type, count, value) at an offset.
func tiff(order binary.AppendByteOrder, at uint32, count int, entries ...[4]uint32) []byte {
	out := []byte("MM\x00*")
	if order == binary.LittleEndian {
		out = []byte("II*\x00")
	}
	out = order.AppendUint32(out, at)
	for uint32(len(out)) < min(at, 64) {
		out = append(out, 0)
	}
	out = order.AppendUint16(out, uint16(count))
	for _, e := range entries {
		out = order.AppendUint32(order.AppendUint16(order.AppendUint16(out, uint16(e[0])), uint16(e[1])), e[2])
		out = append(order.AppendUint16(out, uint16(e[3])), 0, 0)
	}
	return out
}

func file(segments ...[]byte) []byte {
	return append([]byte("\xff\xd8"), bytes.Join(append(segments, []byte("\xff\xda\x00\x02")), nil)...)
}

func oriented(o uint32) []byte {
	return exif(tiff(binary.BigEndian, 8, 2, [4]uint32{0x010f, 2, 1, 0}, [4]uint32{0x0112, 3, 1, o}))
}

func TestOrientationOfAJPEG(t *testing.T) {
	t.Parallel()
	other := append([]byte("\xff\xe0\x00\x10"), make([]byte, 14)...)
	for o := range uint32(maxOrientation) {
		assert.Equal(t, int(o+1), orientationOf(file(other, oriented(o+1))))
	}
	assert.Equal(t, 6, orientationOf(file(exif(tiff(binary.LittleEndian, 20, 1, [4]uint32{0x0112, 3, 1, 6})))), "any offset")
	assert.Equal(t, 6, orientationOf(file([]byte("\xff\xff"), oriented(6))), "padding before a marker")
	assert.Equal(t, upright, orientationOf(file(other)))
	assert.Equal(t, upright, orientationOf(append(file(), oriented(6)...)), "after the image began")
}

// An image that lies about its header is shown as it is stored.
func TestHostileOrientations(t *testing.T) {
	t.Parallel()
	huge := exif(tiff(binary.BigEndian, 8, 0xffff, [4]uint32{1, 3, 1, 1}))
	for name, content := range map[string][]byte{
		"nothing":                  nil,
		"no JPEG":                  []byte("\x89PNG"),
		"a start only":             []byte("\xff\xd8\xff\xe1"),
		"a segment beyond the end": []byte("\xff\xd8\xff\xe1\xff\xffExif\x00\x00MM\x00*"),
		"a segment without a size": []byte("\xff\xd8\xff\xe1\x00\x00Exif"),
		"a segment of one byte":    []byte("\xff\xd8\xff\xe1\x00\x01Exif"),
		"no byte order":            file(exif([]byte("XX\x00*\x00\x00\x00\x08\x00\x01"))),
		"a short structure":        file(exif([]byte("MM\x00*"))),
		"a directory at its start": file(exif(tiff(binary.BigEndian, 0, 1, [4]uint32{0x0112, 3, 1, 6}))),
		"a directory far away":     file(exif(tiff(binary.BigEndian, 0xffff_ffff, 1, [4]uint32{0x0112, 3, 1, 6}))),
		"a directory at the end":   file(exif([]byte("MM\x00*\x00\x00\x00\x09\x00"))),
		"more entries than bytes":  file(huge),
		"orientation 0":            file(oriented(0)),
		"orientation 9":            file(oriented(9)),
		"a string":                 file(exif(tiff(binary.BigEndian, 8, 1, [4]uint32{0x0112, 2, 1, 6}))),
		"many values":              file(exif(tiff(binary.BigEndian, 8, 1, [4]uint32{0x0112, 3, 0xffff_ffff, 6}))),
		"far behind the start":     file(bytes.Repeat(append([]byte("\xff\xe0\xff\xff"), make([]byte, 0xfffd)...), 5), oriented(6)),
		"only padding":             append([]byte("\xff\xd8"), bytes.Repeat([]byte{0xff}, maxHeader)...),
	} {
		assert.Equal(t, upright, orientationOf(content), name)
	}
}

func FuzzOrientation(f *testing.F) {
	f.Add(file(oriented(6)))
	f.Add(file(exif(tiff(binary.LittleEndian, 20, 1, [4]uint32{0x0112, 3, 1, 6}))))
	f.Fuzz(func(t *testing.T, content []byte) {
		if o := orientationOf(content); o < upright || o > maxOrientation {
			t.Fatal(o)
		}
	})
}

// The letters are the pixels of an image that is three wide and two high.
func TestTurned(t *testing.T) {
	t.Parallel()
	in := image.NewNRGBA(image.Rect(0, 0, 3, 2))
	for i, letter := range "abcdef" {
		in.SetNRGBA(i%3, i/3, color.NRGBA{R: uint8(letter), A: 255})
	}
	for o, want := range map[int]string{
		1: "abc/def", 2: "cba/fed", 3: "fed/cba", 4: "def/abc", 5: "ad/be/cf", 6: "da/eb/fc", 7: "fc/eb/da", 8: "cf/be/ad",
	} {
		out := turned(in, o)
		var got []byte
		for y := range out.Rect.Dy() {
			if y > 0 {
				got = append(got, '/')
			}
			for x := range out.Rect.Dx() {
				got = append(got, out.NRGBAAt(x, y).R)
			}
		}
		assert.Equal(t, want, string(got), "orientation %d", o)
	}
}

// A photo of a phone is stored lying on its side. Scaling it must not lose which one.
func TestScaledPhotosStandUpright(t *testing.T) {
	t.Parallel()
	in := image.NewNRGBA(image.Rect(0, 0, 2*MaxSide, 100))
	for y := range 100 {
		for x := range 2 * MaxSide {
			in.SetNRGBA(x, y, color.NRGBA{R: uint8(255 * (x / MaxSide)), A: 255}) // black on the left, red on the right
		}
	}
	var b bytes.Buffer
	require.NoError(t, jpeg.Encode(&b, in, nil))
	photo := append([]byte("\xff\xd8"), append(oriented(6), b.Bytes()[2:]...)...)
	fitted, err := shrink(base64Of(photo))
	require.NoError(t, err)
	out, _, err := image.Decode(bytes.NewReader(bytesOf(t, fitted.Data)))
	require.NoError(t, err)
	require.Equal(t, image.Pt(50, MaxSide), out.Bounds().Size())
	top, _, _, _ := out.At(25, 100).RGBA()
	bottom, _, _, _ := out.At(25, MaxSide-100).RGBA()
	assert.Less(t, top>>8, uint32(40))
	assert.Greater(t, bottom>>8, uint32(200))
}

func base64Of(content []byte) string { return base64.StdEncoding.EncodeToString(content) }

func bytesOf(t *testing.T, text string) []byte {
	t.Helper()
	content, err := base64.StdEncoding.DecodeString(text)
	require.NoError(t, err)
	return content
}
