package rawjson

import "strings"

const blockSize = 64

// block is 64 bytes of text with a bit for each of them, lowest first. Almost all of a session file
// is the inside of strings, and in those every tenth byte is a quote or a backslash: jumping from
// one to the next costs a mispredicted branch each, whereas the bits of a whole block are found
// without any.
type block struct {
	at      int    // where in the text the block begins
	ends    uint64 // quotes that are not escaped
	slashes uint64 // backslashes
	odd     uint64 // bytes that need a closer look where they are inside of a string
	carry   uint64 // 1 when the byte after the block is escaped
}

// noBlock is a block that holds no byte of any text.
var noBlock = block{at: -blockSize}

// scan classifies the bytes of b from at on, which is a multiple of blockSize. carry is that of the
// block before if a string continues, else 0: errors are then limited to strings that ended before.
func (k *block) scan(b []byte, at int, carry uint64) {
	text := (*[blockSize]byte)(spaces)
	if at+blockSize <= len(b) {
		text = (*[blockSize]byte)(b[at:])
	} else {
		last := *text
		copy(last[:], b[at:])
		text = &last
	}
	quotes, slashes, letters, control := classify(text)
	escaped, carry := escapes(slashes, carry)
	k.at, k.carry = at, carry
	k.ends, k.slashes = quotes&^escaped, slashes
	k.odd = escaped &^ (quotes | slashes | letters)
	if control {
		k.odd |= controls(text)
	}
}

var spaces = []byte(strings.Repeat(" ", blockSize))

// controls finds the control characters, of which there are none in almost all blocks.
func controls(text *[blockSize]byte) (found uint64) {
	for i, c := range text {
		if c < ' ' {
			found |= 1 << i
		}
	}
	return found
}

// escapes reports which bytes are escaped, given where backslashes are, and whether the byte after
// the block is. The subtraction carries through each run of backslashes, so that the parity of its
// length shows at its end.
func escapes(slashes, carry uint64) (escaped, next uint64) {
	const odds = 0xAAAAAAAAAAAAAAAA
	starts := slashes &^ carry
	ends := (starts<<1 | odds) - starts ^ odds
	return ends ^ (slashes | carry), ends & slashes >> 63
}
