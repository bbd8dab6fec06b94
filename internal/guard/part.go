package guard

import (
	"encoding/json"
	"regexp"
	"strconv"

	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
)

// partPath is the place of a part of a conversation, as services name it: messages.3.content.0,
// messages[3].content[0], input[3] or contents[3].parts[0].
var partPath = regexp.MustCompile(`\b(messages|input|contents)(?:\[(\d{1,9})\]|\.(\d{1,9}))(?:\.(content|parts)(?:\[(\d{1,9})\]|\.(\d{1,9})))?`)

// rejectedPart returns the part of a request that a problem is about, as it was sent. nil means that the
// service did not name it.
func rejectedPart(body []byte, p *Problem) json.RawMessage {
	m := partPath.FindStringSubmatch(p.Param)
	if m == nil {
		m = partPath.FindStringSubmatch(p.Message)
	}
	if m == nil {
		return nil
	}
	part := element(rawjson.Get(body, m[1]), m[2]+m[3])
	if inner := element(rawjson.Get(part, m[4]), m[5]+m[6]); inner != nil {
		return inner
	}
	return part
}

// element returns an element of an array, nil if there is none.
func element(array []byte, index string) (found []byte) {
	n, err := strconv.Atoi(index)
	if err != nil || rawjson.Kind(array) != '[' {
		return nil
	}
	rawjson.Elements(array, func(v []byte) bool {
		if n == 0 {
			found = v
		}
		n--
		return n >= 0
	})
	return found
}
