package wire

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// The formats of values on the wire.
const (
	textFormat   = 0
	binaryFormat = 1
)

// epoch is the beginning of PostgreSQL's time, in microseconds of Unix time.
const epoch = 946_684_800_000_000

var (
	timeType  = reflect.TypeFor[time.Time]()
	bytesType = reflect.TypeFor[[]byte]()
	uuidType  = reflect.TypeFor[[16]byte]()
)

// encode returns arguments as values and their formats. A value of nil is NULL.
func encode(args []any) (values [][]byte, formats []int16, err error) {
	values, formats = make([][]byte, len(args)), make([]int16, len(args))
	for i, arg := range args {
		if values[i], formats[i], err = value(reflect.ValueOf(arg)); err != nil {
			return nil, nil, err
		}
	}
	return values, formats, nil
}

// value returns one argument.
func value(v reflect.Value) ([]byte, int16, error) {
	for v.Kind() == reflect.Pointer && !v.IsNil() {
		v = v.Elem()
	}
	switch {
	case !v.IsValid(), v.Kind() == reflect.Pointer:
		return nil, textFormat, nil
	case v.Type() == timeType:
		at, _ := reflect.TypeAssert[time.Time](v)
		return binary.BigEndian.AppendUint64(nil, uint64(at.UnixMicro()-epoch)), binaryFormat, nil
	case v.Type().ConvertibleTo(uuidType) && v.Kind() == reflect.Array:
		id, _ := reflect.TypeAssert[[16]byte](v.Convert(uuidType))
		return id[:], binaryFormat, nil
	case v.Type().ConvertibleTo(bytesType) && v.Kind() == reflect.Slice:
		return v.Bytes(), binaryFormat, nil
	case v.Kind() == reflect.Slice:
		text, err := array(v)
		return []byte(text), textFormat, err
	}
	text, err := scalar(v)
	return []byte(text), textFormat, err
}

// scalar returns a value that is no NULL as a text.
func scalar(v reflect.Value) (string, error) {
	switch v.Kind() {
	case reflect.String:
		return v.String(), nil
	case reflect.Bool:
		return strconv.FormatBool(v.Bool()), nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return strconv.FormatInt(v.Int(), 10), nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return strconv.FormatUint(v.Uint(), 10), nil
	case reflect.Float32, reflect.Float64:
		return strconv.FormatFloat(v.Float(), 'g', -1, 64), nil
	default:
		return "", fmt.Errorf("no argument can be a %s", v.Type())
	}
}

var escapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`)

// array returns a slice as the text of an array, whose elements are quoted.
func array(v reflect.Value) (string, error) {
	var b strings.Builder
	b.WriteByte('{')
	for i := range v.Len() {
		text, format, err := value(v.Index(i))
		if err != nil {
			return "", err
		}
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteByte('"')
		switch {
		case v.Index(i).Type() == timeType:
			return "", fmt.Errorf("no argument can be a %s", v.Type())
		case v.Index(i).Kind() == reflect.Array: // a UUID
			b.WriteString(hex.EncodeToString(text))
		case format == binaryFormat:
			b.WriteString(`\\x` + hex.EncodeToString(text))
		default:
			b.WriteString(escapes.Replace(string(text)))
		}
		b.WriteByte('"')
	}
	b.WriteByte('}')
	return b.String(), nil
}

// Identifier returns a name as it is written in a statement.
func Identifier(name string) string {
	return `"` + strings.NewReplacer("\x00", "", `"`, `""`).Replace(name) + `"`
}
