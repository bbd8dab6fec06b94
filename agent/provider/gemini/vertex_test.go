package gemini_test

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/provider/gemini"
	"github.com/xcsh-ls/xcsh-ls/internal/guard"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
)

type variables map[string]string

func (v variables) get(name string) string { return v[name] }

var project = variables{"GOOGLE_CLOUD_PROJECT": "example.com:p-1", "GOOGLE_CLOUD_LOCATION": "europe-west1"}

// account stores the credentials of an account whose tokens come from a service on loopback that
// answers with serve.
func account(t *testing.T, serve http.HandlerFunc) {
	t.Helper()
	s := httptest.NewServer(serve)
	t.Cleanup(s.Close)
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	der, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	raw, err := json.Marshal(map[string]string{
		"type": "service_account", "client_email": "robot@example.com", "token_uri": s.URL,
		"private_key": string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})),
	})
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "credentials.json")
	require.NoError(t, os.WriteFile(path, raw, 0o600))
	t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", path)
}

func token(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write([]byte(`{"access_token":"ya29.a-very-secret-token","token_type":"Bearer","expires_in":3600}`))
}

func TestVertexConformance(t *testing.T) {
	account(t, token)
	providertest.Run(t, provider.GoogleVertex, func(o guard.Options) provider.Provider { return gemini.NewVertex(o, project.get) })
}

func TestVertexAddresses(t *testing.T) {
	t.Parallel()
	const pattern = "https://{location}-aiplatform.googleapis.com"
	for _, c := range []struct {
		project, location, model string
		want                     string
		ambient                  bool
	}{
		{"p", "europe-west1", pattern, "https://europe-west1-aiplatform.googleapis.com", true},
		{"p", "global", pattern, "https://aiplatform.googleapis.com", true},
		{"p", "eu", pattern, "https://aiplatform.eu.rep.googleapis.com", true},
		{"p", "us-east5", "", "https://us-east5-aiplatform.googleapis.com", true},
		{"", "", pattern, "https://aiplatform.googleapis.com", false},
		{"p", "", pattern, "https://aiplatform.googleapis.com", false},
		{"p", "evil.example/", pattern, "https://aiplatform.googleapis.com", false},
		{"p/../q", "us-east5", pattern, "https://aiplatform.googleapis.com", false},
		{"p", "us-east5", "https://gateway.example/v1", "https://gateway.example/v1", false},
		{"p", "us-east5", "https://private.googleapis.com", "https://private.googleapis.com", true},
		{"p", "us-east5", "https://googleapis.com.evil.example", "https://googleapis.com.evil.example", false},
		{"p", "us-east5", "http://x.googleapis.com", "http://x.googleapis.com", false},
	} {
		v := gemini.NewVertex(guard.Options{}, variables{"GCLOUD_PROJECT": c.project, "GOOGLE_CLOUD_LOCATION": c.location}.get)
		m := provider.Model{BaseURL: c.model}
		got, err := v.Address(m)
		require.NoError(t, err)
		require.Equal(t, c.want, got, "%+v", c)
		require.Equal(t, c.ambient, v.Ambient(m), "%+v", c)
	}
}

// wire records requests and answers them with an answer of the model.
type wire struct{ last *http.Request }

func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	w.last = r
	return events{parts(`{"text":"ok"}`), stop}.RoundTrip(r)
}

func vertexRequest(base, key string) provider.Request {
	return provider.Request{
		Model:    provider.Model{ID: newest, API: provider.GoogleVertex, Provider: "google-vertex", BaseURL: base},
		Messages: []provider.Message{userMessage("hi")}, Key: key,
	}
}

// A key is sent to any address, in its own header.
func TestVertexWithAKey(t *testing.T) {
	t.Parallel()
	for base, want := range map[string]string{
		"https://{location}-aiplatform.googleapis.com": "https://aiplatform.googleapis.com/v1/publishers/google/models/" + newest + ":streamGenerateContent?alt=sse",
		"https://gateway.example/vertex/v1beta1/":      "https://gateway.example/vertex/v1beta1/publishers/google/models/" + newest + ":streamGenerateContent?alt=sse",
	} {
		w := &wire{}
		v := gemini.NewVertex(guard.Options{Transport: w}, variables{}.get)
		o := providertest.Collect(t, v.Stream(t.Context(), vertexRequest(base, "the-key")))
		require.Nil(t, o.Err, "%v", o.Err)
		require.Equal(t, want, w.last.URL.String())
		require.Equal(t, "the-key", w.last.Header.Get("X-Goog-Api-Key"))
		require.Empty(t, w.last.Header.Get("Authorization"))
	}
}

// Tokens are requested once, and sent only to Google.
func TestVertexWithCredentials(t *testing.T) {
	var asked atomic.Int32
	account(t, func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		token(w, r)
	})
	w := &wire{}
	v := gemini.NewVertex(guard.Options{Transport: w}, project.get)
	for range 3 {
		o := providertest.Collect(t, v.Stream(t.Context(), vertexRequest("https://{location}-aiplatform.googleapis.com", "")))
		require.Nil(t, o.Err, "%v", o.Err)
	}
	require.Equal(t, "https://europe-west1-aiplatform.googleapis.com/v1/projects/example.com:p-1/locations/europe-west1"+
		"/publishers/google/models/"+newest+":streamGenerateContent?alt=sse", w.last.URL.String())
	require.Equal(t, "Bearer ya29.a-very-secret-token", w.last.Header.Get("Authorization"))
	require.Equal(t, int32(1), asked.Load())

	w.last = nil
	o := providertest.Collect(t, v.Stream(t.Context(), vertexRequest("https://aiplatform.googleapis.com.evil.example", "")))
	require.Equal(t, provider.Auth, o.Err.Class)
	require.Nil(t, w.last, "a token went to another host")
}

// Each way in which there is no token is an error with advice for the user.
func TestVertexWithoutAToken(t *testing.T) {
	failed := func(ctx context.Context, env variables) *provider.Error {
		t.Helper()
		v := gemini.NewVertex(guard.Options{Transport: events{}}, env.get)
		o := providertest.Collect(t, v.Stream(ctx, vertexRequest("", "")))
		require.NotNil(t, o.Err)
		return o.Err
	}
	require.Contains(t, failed(t.Context(), variables{}).Message, "GOOGLE_CLOUD_PROJECT")

	account(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		_, _ = w.Write([]byte(`{"error":"invalid_grant","error_description":"a secret"}`))
	})
	err := failed(t.Context(), project)
	require.Equal(t, provider.Auth, err.Class)
	require.Contains(t, err.Message, "gcloud auth application-default login")
	require.NotContains(t, err.Message, "secret")

	asked, hold := make(chan struct{}), make(chan struct{})
	account(t, func(http.ResponseWriter, *http.Request) {
		close(asked)
		<-hold
	})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-asked
		cancel()
	}()
	require.Equal(t, provider.Aborted, failed(ctx, project).Class, "a wait for a token can be cancelled")
	close(hold)

	t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", filepath.Join(t.TempDir(), "missing"))
	err = failed(t.Context(), project)
	require.Equal(t, provider.Auth, err.Class)
	require.Contains(t, err.Message, "gcloud auth application-default login")
}
