package providertest

import (
	"net/http"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
)

// azureFormat is OpenAI's Responses at a resource of Azure.
var azureFormat = &format{
	api: provider.AzureResponses, path: "/openai/v1/responses",
	decode: decodeAzure, frames: responsesFrames, refuse: openAIError, within: responsesFormat.within, faults: openAIFaults,
}

func decodeAzure(r *http.Request, body []byte) (Request, error) {
	req, err := decodeResponses(r, body)
	switch {
	case r.URL.Query().Get("api-version") == "":
		return req, &refusal{http.StatusNotFound, "not_found_error", "404", "Resource not found"}
	case r.Header.Get("Authorization") != "":
		return req, &refusal{http.StatusUnauthorized, "authentication_error", "401", "the token is not one of this tenant"}
	}
	return req, err
}
