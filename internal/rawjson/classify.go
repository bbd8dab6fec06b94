package rawjson

import "encoding/binary"

// classifyWords finds quotes, backslashes and the letters n, r and t, which are almost all other
// escaped characters, and reports whether there is any control character.
//
// It processes words of eight bytes, the high bits of which classify the bytes. The bits of word k
// are kept as column k of a matrix, so that those of the block are its transpose.
func classifyWords(text *[blockSize]byte) (quotes, slashes, letters uint64, control bool) {
	plain := uint64(highs)
	for k := 0; k < blockSize; k += 8 {
		w := binary.LittleEndian.Uint64(text[k:])
		// Without high bits no sum overflows into the next byte. One is set where the byte
		// is another than the expected one; it must be ASCII to be that one.
		low := w & lows
		quotes = quotes>>1 | highs&^(low^ones*'"'+lows|w)
		slashes = slashes>>1 | highs&^(low^ones*'\\'+lows|w)
		letter := (low ^ ones*'n' + lows) & (low ^ ones*'r' + lows) & (low ^ ones*'t' + lows)
		letters = letters>>1 | highs&^(letter|w)
		plain &= low + (0x80-' ')*ones | w
	}
	return transpose(quotes), transpose(slashes), transpose(letters), plain != highs
}

const (
	ones  = 0x0101010101010101
	lows  = 0x7F * ones
	highs = 0x80 * ones
)

// transpose mirrors an 8×8 matrix of bits, a byte being a row.
func transpose(x uint64) uint64 {
	t := (x ^ x>>7) & 0x00AA00AA00AA00AA
	x ^= t ^ t<<7
	t = (x ^ x>>14) & 0x0000CCCC0000CCCC
	x ^= t ^ t<<14
	t = (x ^ x>>28) & 0x00000000F0F0F0F0
	return x ^ t ^ t<<28
}
