package agent_test

import (
	"strings"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
)

// The reference to an image whose file is gone stays in the session, but is never sent: a service would
// reject it as an image, in this request and in every later one.
// Proves: X-130, F-31
func TestAMissingImageIsNotSent(t *testing.T) {
	t.Parallel()
	reference := "blob:sha256:" + strings.Repeat("0", 64)
	for api := range clients {
		t.Run(string(api), func(t *testing.T) {
			t.Parallel()
			s := newService(t, api)
			s.Script("m", providertest.Reply{Text: "I see."})
			fs := afero.NewMemMapFs()
			path := put(t, fs, "a", "0123456789abcdef", "/w")
			before, err := afero.ReadFile(fs, path)
			require.NoError(t, err)
			before = append(before, `{"type":"message","id":"dddddddd","parentId":"cccccccc","timestamp":"2026-01-01T00:00:00.000Z","message":{"role":"user","content":[`+
				`{"type":"text","text":"look"},{"type":"image","data":"`+reference+`","mimeType":"image/png"}],"timestamp":1}}`+"\n"...)
			require.NoError(t, afero.WriteFile(fs, path, before, 0o600))
			w := newWorld(t, fs, withService(s))
			live := w.live(t, "/w")
			_, err = live.Switch(t.Context(), path)
			require.NoError(t, err)

			prompt(t, live, "and?")
			requests := s.Requests()
			require.Len(t, requests, 1, "nothing was rejected")
			assert.Contains(t, string(requests[0].Body), "(image omitted: its file is missing)")
			assert.NotContains(t, string(requests[0].Body), "blob:sha256")
			after, err := afero.ReadFile(fs, path)
			require.NoError(t, err)
			assert.True(t, strings.HasPrefix(string(after), string(before)))
		})
	}
}
