package indexfile

import (
	"encoding/binary"
	"math"
)

// Encoder makes facts of numbers and texts. Numbers are varints, texts have their length before them.
type Encoder struct{ Bytes []byte }

// Int appends a number.
func (e *Encoder) Int(n int64) { e.Bytes = binary.AppendVarint(e.Bytes, n) }

// Uint appends a number.
func (e *Encoder) Uint(n uint64) { e.Bytes = binary.AppendUvarint(e.Bytes, n) }

// Bool appends a truth value.
func (e *Encoder) Bool(b bool) {
	n := uint64(0)
	if b {
		n = 1
	}
	e.Uint(n)
}

// Float appends a number, to the last bit.
func (e *Encoder) Float(f float64) {
	e.Bytes = binary.LittleEndian.AppendUint64(e.Bytes, math.Float64bits(f))
}

// Text appends a text.
func (e *Encoder) Text(s string) {
	e.Uint(uint64(len(s)))
	e.Bytes = append(e.Bytes, s...)
}

// Optional appends a text or, if it is nil, that there is none.
func (e *Encoder) Optional(b []byte) {
	e.Bool(b != nil)
	if b != nil {
		e.Text(string(b))
	}
}

// Sum appends a checksum.
func (e *Encoder) Sum(sum uint32) { e.Bytes = binary.LittleEndian.AppendUint32(e.Bytes, sum) }

// Decoder reads what an [Encoder] appended. After the first missing value everything is zero and Bad is set.
type Decoder struct {
	Rest []byte
	Bad  bool
}

func (d *Decoder) fail() { d.Rest, d.Bad = nil, true }

// take returns the next n bytes.
func (d *Decoder) take(n int) []byte {
	if n < 0 || n > len(d.Rest) {
		d.fail()
		return nil
	}
	b := d.Rest[:n:n]
	d.Rest = d.Rest[n:]
	return b
}

// Int reads a number.
func (d *Decoder) Int() int64 {
	n, used := binary.Varint(d.Rest)
	if used <= 0 {
		d.fail()
		return 0
	}
	d.Rest = d.Rest[used:]
	return n
}

// Uint reads a number.
func (d *Decoder) Uint() uint64 {
	n, used := binary.Uvarint(d.Rest)
	if used <= 0 {
		d.fail()
		return 0
	}
	d.Rest = d.Rest[used:]
	return n
}

// Count reads the length of a list whose elements take at least one byte each, so that a wrong one can't ask
// for more memory than the facts have.
func (d *Decoder) Count() int {
	n := d.Uint()
	if n > uint64(len(d.Rest)) {
		d.fail()
		return 0
	}
	return int(n)
}

// Bool reads a truth value.
func (d *Decoder) Bool() bool {
	n := d.Uint()
	if n > 1 {
		d.fail()
	}
	return n == 1
}

// Float reads a number.
func (d *Decoder) Float() float64 {
	b := d.take(8)
	if b == nil {
		return 0
	}
	return math.Float64frombits(binary.LittleEndian.Uint64(b))
}

// Text reads a text.
func (d *Decoder) Text() string { return string(d.take(d.Count())) }

// Optional reads a text, nil if there is none. It aliases the facts.
func (d *Decoder) Optional() []byte {
	if !d.Bool() {
		return nil
	}
	return d.take(d.Count())
}

// Sum reads a checksum.
func (d *Decoder) Sum() uint32 {
	b := d.take(4)
	if b == nil {
		return 0
	}
	return binary.LittleEndian.Uint32(b)
}
