package pdftext

import "github.com/ledongthuc/pdf"

const (
	// defaultWidth is the width of a character that the font does not say, in thousandths of its size.
	defaultWidth = 500

	// maxWidths is how many widths of a font are read.
	maxWidths = 1 << 16
)

// font decodes strings.
type font struct {
	font  pdf.Font
	wide  bool // codes have two bytes
	known map[int]float64
	other float64 // the width of other codes
}

func newFont(v pdf.Value) *font {
	f := &font{font: pdf.Font{V: v}, known: map[int]float64{}}
	if below := v.Key("DescendantFonts").Index(0); !below.IsNull() {
		f.wide, f.other = true, 1000
		if dw := below.Key("DW"); !dw.IsNull() {
			f.other = dw.Float64()
		}
		f.readWide(below.Key("W"))
		return f
	}
	first, widths := int(v.Key("FirstChar").Int64()), v.Key("Widths")
	for i := range min(widths.Len(), 256) {
		f.known[first+i] = widths.Index(i).Float64()
	}
	return f
}

// readWide reads the widths of a composite font: FIRST [W W …] or FIRST LAST W.
func (f *font) readWide(list pdf.Value) {
	for i := 0; i+1 < list.Len() && len(f.known) < maxWidths; {
		first, next := int(list.Index(i).Int64()), list.Index(i+1)
		if next.Kind() == pdf.Array {
			for k := range min(next.Len(), maxWidths) {
				f.known[first+k] = next.Index(k).Float64()
			}
			i += 2
			continue
		}
		width := list.Index(i + 2).Float64()
		for code := first; code <= int(next.Int64()) && len(f.known) < maxWidths; code++ {
			f.known[code] = width
		}
		i += 3
	}
}

// width returns the width of a string in thousandths of the font's size, and its number of codes. It is certain if
// the font has all of the widths.
func (f *font) width(raw string) (sum float64, codes int, certain bool) {
	certain = true
	step := 1
	if f.wide {
		step = 2
	}
	for i := 0; i+step <= len(raw); i += step {
		code := int(raw[i])
		if f.wide {
			code = code<<8 | int(raw[i+1])
		}
		width, ok := f.known[code]
		switch {
		case ok:
		case f.wide:
			width = f.other
		default:
			width, certain = defaultWidth, false
		}
		sum += width
		codes++
	}
	return sum, codes, certain
}

func (f *font) decode(raw string) string { return f.font.Encoder().Decode(raw) }
