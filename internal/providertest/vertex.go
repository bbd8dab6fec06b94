package providertest

import (
	"net/http"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
)

// vertexFormat is generateContent at a project of Google Cloud, with a token. vertexKeyFormat is the same
// with a key, which belongs to a project.
var (
	vertexFormat    = ofVertex("/v1/projects/{project}/locations/{location}/publishers/google/models/{call}", "Authorization")
	vertexKeyFormat = ofVertex("/v1/publishers/google/models/{call}", "X-Goog-Api-Key")
)

func ofVertex(path, credentials string) *format {
	f := *geminiFormat
	f.api, f.path = provider.GoogleVertex, path
	f.decode = func(r *http.Request, body []byte) (Request, error) {
		if r.Header.Get(credentials) == "" {
			return Request{}, &refusal{http.StatusUnauthorized, "authentication_error", "", "Request is missing required authentication credential."}
		}
		return decodeGemini(r, body)
	}
	return &f
}

// google reports whether the format is Google's.
func google(api provider.API) bool {
	return api == provider.GoogleGenerativeAI || api == provider.GoogleVertex
}
