package imaging

import (
	"bytes"
	"encoding/binary"
	"image"
)

// upright is the orientation of an image that is stored as it is shown. The others, up to
// maxOrientation, are those of Exif: mirrored, rotated, or both.
const (
	upright        = 1
	maxOrientation = 8
)

// maxHeader is how much of a JPEG file is searched for its orientation, in bytes. Cameras write it
// first; a segment has at most 64 KB.
const maxHeader = 256 << 10

// orientationOf returns the orientation of a JPEG file: [upright] if it names none or cannot be
// read. An image of a repository is hostile: every offset is checked, and nothing is followed twice.
func orientationOf(file []byte) int {
	rest, ok := bytes.CutPrefix(file[:min(len(file), maxHeader)], []byte("\xff\xd8"))
	for ok && len(rest) >= 4 && rest[0] == 0xff {
		marker := rest[1]
		if marker == 0xff { // padding
			rest = rest[1:]
			continue
		}
		const startOfScan, app1 = 0xda, 0xe1
		size := int(binary.BigEndian.Uint16(rest[2:])) // of itself and the content
		if marker == startOfScan || size < 2 || len(rest) < 2+size {
			break
		}
		if tiff, is := bytes.CutPrefix(rest[4:2+size], []byte("Exif\x00\x00")); is && marker == app1 {
			return tiffOrientation(tiff)
		}
		rest = rest[2+size:]
	}
	return upright
}

// tiffOrientation returns the orientation in the first directory of Exif's TIFF structure.
func tiffOrientation(tiff []byte) int {
	const header, entry, tag, short = 8, 12, 0x0112, 3
	if len(tiff) < header {
		return upright
	}
	var order binary.ByteOrder
	switch string(tiff[:4]) {
	case "II*\x00":
		order = binary.LittleEndian
	case "MM\x00*":
		order = binary.BigEndian
	default:
		return upright
	}
	at := order.Uint32(tiff[4:])
	if at < header || uint64(at)+2 > uint64(len(tiff)) {
		return upright
	}
	entries := tiff[at+2:]
	for n := order.Uint16(tiff[at:]); n > 0 && len(entries) >= entry; n-- {
		if order.Uint16(entries) == tag && order.Uint16(entries[2:]) == short && order.Uint32(entries[4:]) == 1 {
			if o := int(order.Uint16(entries[8:])); o > upright && o <= maxOrientation {
				return o
			}
			return upright
		}
		entries = entries[entry:]
	}
	return upright
}

// turned returns the image as it is shown with an orientation.
func turned(in *image.NRGBA, orientation int) *image.NRGBA {
	w, h := in.Rect.Dx(), in.Rect.Dy()
	// The pixel of the image that is shown at x, y.
	var source func(x, y int) (int, int)
	switch orientation {
	case 2:
		source = func(x, y int) (int, int) { return w - 1 - x, y }
	case 3:
		source = func(x, y int) (int, int) { return w - 1 - x, h - 1 - y }
	case 4:
		source = func(x, y int) (int, int) { return x, h - 1 - y }
	case 5:
		source = func(x, y int) (int, int) { return y, x }
	case 6:
		source = func(x, y int) (int, int) { return y, h - 1 - x }
	case 7:
		source = func(x, y int) (int, int) { return w - 1 - y, h - 1 - x }
	case 8:
		source = func(x, y int) (int, int) { return w - 1 - y, x }
	default:
		return in
	}
	size := image.Pt(w, h)
	if orientation > 4 {
		size = image.Pt(h, w)
	}
	out := image.NewNRGBA(image.Rectangle{Max: size})
	for y := range size.Y {
		for x := range size.X {
			sx, sy := source(x, y)
			from, to := in.PixOffset(in.Rect.Min.X+sx, in.Rect.Min.Y+sy), out.PixOffset(x, y)
			copy(out.Pix[to:to+4], in.Pix[from:from+4])
		}
	}
	return out
}
