package export

import (
	"bytes"
	"encoding/json"
	"strconv"
	"unicode/utf8"

	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
)

// object is a JSON object read once: its members in order, their values raw. Every
// accessor returns the zero value if the member is absent or of another type, because
// transcripts hold both.
type object []member

type member struct {
	key string
	val []byte
}

// parseObject lists the members of v. Of duplicate keys the last value counts, in the
// place of the first, as in JavaScript. It is nil when v is not an object or has no members. The object and its strings share the memory
// of v.
func parseObject(v []byte) object {
	if rawjson.Kind(v) != '{' {
		return nil
	}
	if o := appendObject(make(object, 0, 12), v); len(o) > 0 {
		return o
	}
	return nil
}

// appendObject is parseObject with the memory of an object that is not used any more.
func appendObject(o object, v []byte) object {
	var seen map[string]int // only for objects too large to search
	rawjson.Members(v, func(key, val []byte) bool {
		name := text(key)
		if seen == nil && len(o) == 16 {
			seen = make(map[string]int)
			for i, m := range o {
				seen[m.key] = i
			}
		}
		if i := o.index(seen, name); i >= 0 {
			o[i].val = val
			return true
		}
		if seen != nil {
			seen[name] = len(o)
		}
		o = append(o, member{name, val})
		return true
	})
	return o
}

func (o object) index(seen map[string]int, name string) int {
	if seen != nil {
		if i, ok := seen[name]; ok {
			return i
		}
		return -1
	}
	for i := range o {
		if o[i].key == name {
			return i
		}
	}
	return -1
}

func (o object) get(name string) []byte {
	for _, m := range o {
		if m.key == name {
			return m.val
		}
	}
	return nil
}

func (o object) str(name string) string { return text(o.get(name)) }

// text decodes a JSON string; any other value gives "". The result shares the memory of v if v has no escapes.
func text(v []byte) string {
	var decoded []byte
	s, _ := rawjson.StringIn(v, &decoded)
	return s
}

func (o object) truthy(name string) bool { return rawjson.Truthy(o.get(name)) }

// number returns a number as it is written, "" if the member is not a number.
func (o object) number(name string) string {
	if v := o.get(name); rawjson.Kind(v) == '0' {
		return string(bytes.TrimSpace(v))
	}
	return ""
}

func (o object) float(name string) float64 {
	f, _ := rawjson.Float(o.get(name))
	return f
}

func (o object) object(name string) object { return parseObject(o.get(name)) }

// or returns the first string that is not empty.
func or(ss ...string) string {
	for _, s := range ss {
		if s != "" {
			return s
		}
	}
	return ""
}

// eachBlock calls f with each content block of a message: its type and members. A content
// that is a string is one text block; other values that are not an object are skipped.
func eachBlock(content []byte, f func(typ string, b object)) {
	if rawjson.Kind(content) == '"' {
		f("text", object{{"text", content}})
		return
	}
	rawjson.Elements(content, func(v []byte) bool {
		if rawjson.Kind(v) == '{' {
			b := parseObject(v)
			f(b.str("type"), b)
		}
		return true
	})
}

// eachArgument calls f with each argument of a tool call. An array counts as an
// object with its indices as keys, as in JavaScript.
func eachArgument(args []byte, f func(key string, val []byte)) {
	for _, m := range parseObject(args) {
		f(m.key, m.val)
	}
	i := 0
	rawjson.Elements(args, func(v []byte) bool {
		f(strconv.Itoa(i), v)
		i++
		return true
	})
}

// intentKey is the argument in which a model gives the reason for a tool call. It does not
// belong to the tool.
const intentKey = "_i"

// compact returns v without the white space outside of strings. The bytes of
// numbers and strings stay as they are.
func compact(v []byte) string {
	var buf bytes.Buffer
	if json.Compact(&buf, v) != nil {
		buf.Reset()
		buf.Write(v) // deeper than encoding/json supports, or not JSON
	}
	return validUTF8(buf.String())
}

func validUTF8(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return string(bytes.ToValidUTF8([]byte(s), []byte("\uFFFD")))
}
