package team

import (
	"crypto/sha256"
	"encoding/hex"
)

// Sum is a SHA-256: of a body up to some length, or of an image.
type Sum [sha256.Size]byte

// EmptySum is the sum of an empty body.
var EmptySum = SumOf(nil)

// SumOf returns the sum of b.
func SumOf(b []byte) Sum { return sha256.Sum256(b) }

// String returns the sum as 64 hexadecimal digits.
func (s Sum) String() string { return hex.EncodeToString(s[:]) }
