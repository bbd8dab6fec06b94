package wire

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// Whatever a server sends as a value of whichever type, the answer is a value or an error.
func FuzzScan(f *testing.F) {
	f.Add(uint32(1007), []byte{0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 23, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 4, 0, 0, 0, 7})
	f.Add(uint32(1007), []byte{0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 23, 127, 255, 255, 255, 0, 0, 0, 1})
	f.Add(uint32(integer8), []byte{255, 255, 255, 255, 255, 255, 255, 255})
	f.Add(uint32(timestamp), []byte{127, 255, 255, 255, 255, 255, 255, 255})
	f.Add(uint32(text), []byte{0xff})
	f.Fuzz(func(t *testing.T, oid uint32, b []byte) {
		row := Row{[]pgconn.FieldDescription{{Name: "x", DataTypeOID: oid, Format: binaryFormat}}, [][]byte{b}}
		for _, dest := range []any{
			new(string), new(*string), new(bool), new(int), new(int16), new(int64), new(uint64), new(float64), new([]byte), new(Raw), new([]int), new([]int16), new([16]byte), new(*[16]byte), new(time.Time), new(*time.Time),
		} {
			_ = row.Scan(dest)
		}
		var list []int
		if row.Scan(&list) == nil && len(list) > len(b)/4 {
			t.Fatalf("%d elements of %d bytes", len(list), len(b))
		}
	})
}
