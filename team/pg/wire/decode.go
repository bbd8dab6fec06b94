package wire

import (
	"encoding/binary"
	"fmt"
	"math"
	"reflect"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgconn"
)

// Types of results, by their numbers in every database.
const (
	boolean   = 16
	byteArray = 17
	name      = 19
	integer8  = 20
	integer2  = 21
	integer4  = 23
	text      = 25
	float8    = 701
	bpchar    = 1042
	varchar   = 1043
	timestamp = 1184 // with time zone
	uuid      = 2950
	xid8      = 5069
)

// AnswerError is an answer that the caller did not ask for.
type AnswerError struct {
	Column string
	Reason string
}

func (e *AnswerError) Error() string {
	return fmt.Sprintf("the column %q of the answer %s", e.Column, e.Reason)
}

// Row is a row of a result. It is valid until the next one is read.
type Row struct {
	fields []pgconn.FieldDescription
	values [][]byte
}

// Raw is a destination for bytes that are valid as long as the row is.
type Raw []byte

// Scan stores the columns in the destinations, which are pointers.
func (r Row) Scan(dest ...any) error {
	if len(dest) != len(r.values) || len(dest) != len(r.fields) {
		return &AnswerError{"*", fmt.Sprintf("has %d columns, not %d", len(r.values), len(dest))}
	}
	for i, d := range dest {
		f := r.fields[i]
		if reason := r.store(i, d); reason != "" {
			return &AnswerError{f.Name, reason}
		}
	}
	return nil
}

// store stores a column, and says what prevents that.
func (r Row) store(i int, dest any) (reason string) {
	f, b := r.fields[i], r.values[i]
	if f.Format != binaryFormat {
		return "is a text"
	}
	if raw, ok := dest.(*Raw); ok && f.DataTypeOID == byteArray {
		*raw = b
		return ""
	}
	return decode(reflect.ValueOf(dest).Elem(), f.DataTypeOID, b)
}

// decode stores a value of a type in a variable, and says what prevents that. The value nil is NULL.
func decode(v reflect.Value, oid uint32, b []byte) (reason string) {
	if v.Kind() == reflect.Pointer {
		if b == nil {
			v.SetZero()
			return ""
		}
		v.Set(reflect.New(v.Type().Elem()))
		return decode(v.Elem(), oid, b)
	}
	if v.Kind() == reflect.Slice {
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return bytes(v, oid, b)
		}
		return integers(v, oid, b)
	}
	if b == nil {
		return "is NULL"
	}
	if v.Type() == timeType {
		return instant(v, oid, b)
	}
	ok := false
	switch v.Kind() {
	case reflect.String:
		if ok = (oid == text || oid == varchar || oid == name || oid == bpchar) && utf8.Valid(b); ok {
			v.SetString(string(b))
		}
	case reflect.Bool:
		if ok = oid == boolean && len(b) == 1; ok {
			v.SetBool(b[0] != 0)
		}
	case reflect.Int, reflect.Int16, reflect.Int32, reflect.Int64:
		var n int64
		if n, ok = integer(oid, b); ok && !v.OverflowInt(n) {
			v.SetInt(n)
		} else {
			ok = false
		}
	case reflect.Uint64:
		if ok = (oid == xid8 || oid == integer8) && len(b) == 8; ok {
			v.SetUint(binary.BigEndian.Uint64(b))
		}
	case reflect.Float64:
		if ok = oid == float8 && len(b) == 8; ok {
			v.SetFloat(math.Float64frombits(binary.BigEndian.Uint64(b)))
		}
	case reflect.Array:
		if ok = oid == uuid && len(b) == 16 && v.Type().ConvertibleTo(uuidType); ok {
			v.Set(reflect.ValueOf([16]byte(b)).Convert(v.Type()))
		}
	}
	if !ok {
		return unexpected(v, oid, b)
	}
	return ""
}

func unexpected(v reflect.Value, oid uint32, b []byte) string {
	return fmt.Sprintf("has the type %d and %d bytes, which is no %s", oid, len(b), v.Type())
}

// bytes stores a copy of bytes. NULL is nil.
func bytes(v reflect.Value, oid uint32, b []byte) string {
	switch {
	case oid != byteArray:
		return unexpected(v, oid, b)
	case b == nil:
		v.SetZero()
	default:
		v.SetBytes(append([]byte{}, b...))
	}
	return ""
}

// instant stores a time, in UTC. It has microseconds.
func instant(v reflect.Value, oid uint32, b []byte) string {
	if oid != timestamp || len(b) != 8 {
		return unexpected(v, oid, b)
	}
	n := int64(binary.BigEndian.Uint64(b))
	if n == math.MaxInt64 || n == math.MinInt64 {
		return "is infinite"
	}
	v.Set(reflect.ValueOf(time.UnixMicro(n + epoch).UTC()))
	return ""
}

// integer returns an integer of any size.
func integer(oid uint32, b []byte) (int64, bool) {
	switch {
	case oid == integer2 && len(b) == 2:
		return int64(int16(binary.BigEndian.Uint16(b))), true
	case oid == integer4 && len(b) == 4:
		return int64(int32(binary.BigEndian.Uint32(b))), true
	case oid == integer8 && len(b) == 8:
		return int64(binary.BigEndian.Uint64(b)), true
	}
	return 0, false
}

// integers stores an array of integers, which has one dimension at most. NULL is nil.
func integers(v reflect.Value, oid uint32, b []byte) string {
	if b == nil {
		v.SetZero()
		return ""
	}
	// The header is: the number of dimensions, whether there are NULLs, the type of the elements; then for
	// each dimension its length and the number of its first element.
	number := func(at int) int { return int(int32(binary.BigEndian.Uint32(b[at:]))) }
	if len(b) < 12 || number(0) < 0 || number(0) > 1 || number(0) == 1 && len(b) < 20 {
		return unexpected(v, oid, b)
	}
	element, at, n := uint32(number(8)), 12, 0
	if number(0) == 1 {
		at, n = 20, number(12)
	}
	if n < 0 || n > (len(b)-at)/4 {
		return unexpected(v, oid, b)
	}
	out := reflect.MakeSlice(v.Type(), n, n)
	for i := range n {
		if len(b)-at < 4 {
			return unexpected(v, oid, b)
		}
		size := number(at)
		if at += 4; size < 0 || size > len(b)-at {
			return unexpected(v, oid, b)
		}
		if reason := decode(out.Index(i), element, b[at:at+size]); reason != "" {
			return reason
		}
		at += size
	}
	v.Set(out)
	return ""
}
