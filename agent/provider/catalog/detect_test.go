package catalog_test

import (
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/provider/catalog"
)

// Servers of this machine are not asked again at once.
func TestDetectedModelsAreKeptForAMoment(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"data":[{"id":"m"}]}`))
	}))
	t.Cleanup(server.Close)
	for keep, want := range map[time.Duration]int32{time.Hour: 1, 0: 3} {
		asked.Store(0)
		c := open(t, nil, nil)
		c.Local = &catalog.Detector{Timeout: time.Minute, Keep: keep, Servers: []catalog.Server{{Provider: "vllm", URL: server.URL}}}
		for range 3 {
			require.Equal(t, "vllm", c.Sources(t.Context())[0].ID)
		}
		require.Equal(t, want, asked.Load())
	}
}
