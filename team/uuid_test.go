package team_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/team"
)

func TestUUIDsAreReadAndWritten(t *testing.T) {
	t.Parallel()
	sid := team.NewSID()
	require.Regexp(t, `^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`, sid.String())
	again, err := team.ParseSID(strings.ToUpper(sid.String()))
	require.NoError(t, err)
	require.Equal(t, sid, again)

	text, err := json.Marshal(map[string]any{"sid": sid})
	require.NoError(t, err)
	var decoded struct{ SID team.SID }
	require.NoError(t, json.Unmarshal(text, &decoded))
	require.Equal(t, sid, decoded.SID)

	for _, bad := range []string{"", "x", strings.Repeat("-", 36), sid.String() + "0", strings.Replace(sid.String(), "-", "0", 1), "g" + sid.String()[1:]} {
		_, err := team.ParseSID(bad)
		require.Error(t, err, bad)
	}
}

func TestPlainTextIsWhatPostgreSQLAccepts(t *testing.T) {
	t.Parallel()
	require.Equal(t, "ab\uFFFDc", team.PlainText("a\x00b\xffc"))
	require.Equal(t, "plain é😀", team.PlainText("plain é😀"))
}
