package visible

import "unicode"

const (
	softHyphen      = 0x00AD
	nonJoiner       = 0x200C
	joiner          = 0x200D
	textSelector    = 0xFE0E
	emojiSelector   = 0xFE0F
	enclosingKeycap = 0x20E3
	blackFlag       = 0x1F3F4
)

// flagTags are the tags that turn a black flag into the flags of England, Scotland and
// Wales. No other flags of this kind are in general use.
var flagTags = [][]byte{tags("gbeng"), tags("gbsct"), tags("gbwls")}

// tags spells a region in tag characters, with the terminating one.
func tags(region string) []byte {
	const first, end = 0xE0000, 0xE007F
	var s []rune
	for _, r := range region {
		s = append(s, first+r)
	}
	return []byte(string(append(s, end)))
}

// hidden reports whether r is invisible to a reader or reorders the visible text. It knows no
// exceptions.
func hidden(r rune) bool {
	switch {
	case r < 0xA0:
		return r < 0x20 || r >= 0x7F
	case r < 0x034F:
		return r == softHyphen
	case 0x3164 < r && r < 0xFE00, 0x0370 <= r && r < 0x0600: // most other letters
		return false
	}
	return unicode.Is(invisible, r)
}

// invisible are the default ignorable code points, the line separators and the controls of
// interlinear annotations.
var invisible = &unicode.RangeTable{
	R16: []unicode.Range16{
		{0x034F, 0x034F, 1},
		{0x061C, 0x061C, 1},
		{0x115F, 0x1160, 1},
		{0x17B4, 0x17B5, 1},
		{0x180B, 0x180F, 1},
		{0x200B, 0x200F, 1},
		{0x2028, 0x202E, 1},
		{0x2060, 0x206F, 1},
		{0x3164, 0x3164, 1},
		{0xFE00, 0xFE0F, 1},
		{0xFEFF, 0xFEFF, 1},
		{0xFFA0, 0xFFA0, 1},
		{0xFFF0, 0xFFFB, 1},
	},
	R32: []unicode.Range32{{0x1BCA0, 0x1BCA3, 1}, {0x1D173, 0x1D17A, 1}, {0xE0000, 0xE0FFF, 1}},
}

// emoji are the code points with Unicode's property Extended_Pictographic, and skin tones.
var emoji = &unicode.RangeTable{
	R16: []unicode.Range16{
		{0x00A9, 0x00A9, 1},
		{0x00AE, 0x00AE, 1},
		{0x203C, 0x203C, 1},
		{0x2049, 0x2049, 1},
		{0x2122, 0x2122, 1},
		{0x2139, 0x2139, 1},
		{0x2194, 0x2199, 1},
		{0x21A9, 0x21AA, 1},
		{0x231A, 0x231B, 1},
		{0x2328, 0x2328, 1},
		{0x2388, 0x2388, 1},
		{0x23CF, 0x23CF, 1},
		{0x23E9, 0x23F3, 1},
		{0x23F8, 0x23FA, 1},
		{0x24C2, 0x24C2, 1},
		{0x25AA, 0x25AB, 1},
		{0x25B6, 0x25B6, 1},
		{0x25C0, 0x25C0, 1},
		{0x25FB, 0x25FE, 1},
		{0x2600, 0x2605, 1},
		{0x2607, 0x2612, 1},
		{0x2614, 0x2685, 1},
		{0x2690, 0x2705, 1},
		{0x2708, 0x2712, 1},
		{0x2714, 0x2714, 1},
		{0x2716, 0x2716, 1},
		{0x271D, 0x271D, 1},
		{0x2721, 0x2721, 1},
		{0x2728, 0x2728, 1},
		{0x2733, 0x2734, 1},
		{0x2744, 0x2744, 1},
		{0x2747, 0x2747, 1},
		{0x274C, 0x274C, 1},
		{0x274E, 0x274E, 1},
		{0x2753, 0x2755, 1},
		{0x2757, 0x2757, 1},
		{0x2763, 0x2767, 1},
		{0x2795, 0x2797, 1},
		{0x27A1, 0x27A1, 1},
		{0x27B0, 0x27B0, 1},
		{0x27BF, 0x27BF, 1},
		{0x2934, 0x2935, 1},
		{0x2B05, 0x2B07, 1},
		{0x2B1B, 0x2B1C, 1},
		{0x2B50, 0x2B50, 1},
		{0x2B55, 0x2B55, 1},
		{0x3030, 0x3030, 1},
		{0x303D, 0x303D, 1},
		{0x3297, 0x3297, 1},
		{0x3299, 0x3299, 1},
	},
	R32: []unicode.Range32{
		{0x1F000, 0x1F0FF, 1},
		{0x1F10D, 0x1F10F, 1},
		{0x1F12F, 0x1F12F, 1},
		{0x1F16C, 0x1F171, 1},
		{0x1F17E, 0x1F17F, 1},
		{0x1F18E, 0x1F18E, 1},
		{0x1F191, 0x1F19A, 1},
		{0x1F1AD, 0x1F1E5, 1},
		{0x1F201, 0x1F20F, 1},
		{0x1F21A, 0x1F21A, 1},
		{0x1F22F, 0x1F22F, 1},
		{0x1F232, 0x1F23A, 1},
		{0x1F23C, 0x1F23F, 1},
		{0x1F249, 0x1F53D, 1},
		{0x1F546, 0x1F64F, 1},
		{0x1F680, 0x1F6FF, 1},
		{0x1F774, 0x1F77F, 1},
		{0x1F7D5, 0x1F7FF, 1},
		{0x1F80C, 0x1F80F, 1},
		{0x1F848, 0x1F84F, 1},
		{0x1F85A, 0x1F85F, 1},
		{0x1F888, 0x1F88F, 1},
		{0x1F8AE, 0x1F8FF, 1},
		{0x1F90C, 0x1F93A, 1},
		{0x1F93C, 0x1F945, 1},
		{0x1F947, 0x1FAFF, 1},
		{0x1FC00, 0x1FFFD, 1},
	},
	LatinOffset: 2,
}

// joining are the scripts whose ordinary text has joiners and non-joiners.
var joining = []*unicode.RangeTable{
	unicode.Arabic, unicode.Syriac, unicode.Nko, unicode.Mandaic, unicode.Mongolian, unicode.Phags_Pa, unicode.Adlam,
	unicode.Hanifi_Rohingya, unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi, unicode.Gujarati, unicode.Oriya,
	unicode.Tamil, unicode.Telugu, unicode.Kannada, unicode.Malayalam, unicode.Sinhala, unicode.Myanmar, unicode.Khmer,
	unicode.Tibetan, unicode.Balinese, unicode.Javanese, unicode.Sundanese, unicode.Newa, unicode.Tirhuta, unicode.Meetei_Mayek,
}

// joins reports whether r belongs to a script that joins letters.
func joins(r rune) bool { return r >= 0x0600 && unicode.In(r, joining...) }

// harakat reports whether r is a vowel mark that Arabic letters carry and that Unicode counts
// to no script. The letter below it decides which characters may follow.
func harakat(r rune) bool { return 0x064B <= r && r <= 0x0655 || r == 0x0670 }
