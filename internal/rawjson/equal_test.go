package rawjson_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
)

func TestEqual(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{`{"a":1}`, `{"a":1}`, true},
		{`{"a":1,"b":[true,null]}`, "{ \"a\" : 1.0,\n\"b\":[ true , null ] } ", true},
		{`{"a":"é\u2028\/"}`, `{"\u0061":"\u00e9` + "\u2028" + `/"}`, true},
		{`1e3`, `1000`, true},
		{`{"a":1,"b":2}`, `{"b":2,"a":1}`, false},
		{`{"a":1}`, `{"a":2}`, false},
		{`{"a":1}`, `{"a":"1"}`, false},
		{`{"a":1}`, `{"a":1,"b":1}`, false},
		{`[1]`, `[1,1]`, false},
		{`[1,[2]]`, `[1,2]`, false},
		{`true`, `false`, false},
		{`null`, `"null"`, false},
		{`"ab"`, `"a"`, false},
		{``, `1`, false},
	} {
		require.Equal(t, c.want, rawjson.Equal([]byte(c.a), []byte(c.b)), "%s and %s", c.a, c.b)
		require.Equal(t, c.want, rawjson.Equal([]byte(c.b), []byte(c.a)), "%s and %s", c.b, c.a)
	}
}

// Text that is not JSON ends the comparison and does nothing worse; JSON is equal to itself in any spacing.
func FuzzEqual(f *testing.F) {
	f.Add([]byte(`{"a":[1,"\ud800",{}]}`), []byte(`{"a":[1,2]`))
	f.Add([]byte(`"`), []byte(`\`))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		require.Equal(t, rawjson.Equal(a, b), rawjson.Equal(b, a))
		var wide bytes.Buffer
		if json.Indent(&wide, a, "", " ") == nil {
			require.True(t, rawjson.Equal(a, wide.Bytes()))
		}
	})
}
