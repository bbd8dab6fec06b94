package providertest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
)

// Server is a service with models whose answers a test scripted. It listens on loopback until the
// test ends. It is safe for concurrent use.
type Server struct {
	// Key is the key that requests have to carry; "" accepts all requests. Set it before the first
	// request.
	Key string

	limits map[string]Limits // by model id; set before the first request

	tb     testing.TB
	http   *httptest.Server
	script script

	mu       sync.Mutex
	requests []Request // guarded by mu
	served   int       // guarded by mu
}

// New starts a server.
func New(tb testing.TB) *Server {
	tb.Helper()
	s := &Server{tb: tb}
	mux := http.NewServeMux()
	for _, f := range formats {
		mux.HandleFunc("POST "+f.path, func(w http.ResponseWriter, r *http.Request) { s.serve(f, w, r) })
	}
	mux.HandleFunc("POST /redirect/{host}/", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://"+r.PathValue("host")+"/v1/messages?token=secret", http.StatusTemporaryRedirect)
	})
	mux.HandleFunc("GET /v1/models", s.listModels)
	mux.HandleFunc("GET /api/tags", s.listTags)
	mux.HandleFunc("GET /api/version", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, http.StatusOK, object{"version": "0.17.4"})
	})
	s.http = httptest.NewServer(mux)
	tb.Cleanup(func() {
		s.http.CloseClientConnections()
		s.http.Close()
	})
	return s
}

// URL is the base URL for clients of api, as [provider.Model.BaseURL] has it. "" is the root, for
// code that looks for local services.
func (s *Server) URL(api provider.API) string {
	switch api {
	case provider.OpenAICompletions, provider.OpenAIResponses:
		return s.http.URL + "/v1"
	case provider.AzureResponses:
		return s.http.URL + "/openai/v1"
	case provider.GoogleGenerativeAI:
		return s.http.URL + "/v1beta"
	default:
		return s.http.URL
	}
}

// Model describes a model of the server: it thinks, sees images and has prices.
func (s *Server) Model(api provider.API, id string) provider.Model {
	return provider.Model{
		ID: id, Name: id, API: api, Provider: "fake", BaseURL: s.URL(api), Reasoning: true,
		Input: []string{"text", "image"}, ContextWindow: 200_000, MaxTokens: 32_000,
		Cost: &provider.Cost{Input: 3, Output: 15, CacheRead: 0.3, CacheWrite: 3.75},
	}
}

// Script adds replies of the model with this id, for requests in any format. Each is played once,
// in order; the last one repeats.
func (s *Server) Script(id string, replies ...Reply) { s.script.add(id, replies) }

// Requests are the requests to models so far, also those that were refused.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// format is one wire format.
type format struct {
	api    provider.API
	path   string
	decode func(r *http.Request, body []byte) (Request, error) // the error may be a *refusal
	frames func(r Reply, m made) []frame
	refuse func(refusal) any   // the body of an error answer
	within func(refusal) frame // an error in the middle of a stream
	faults map[Fault]refusal

	// Of formats whose answers are not server-sent events.
	media string
	frame func(name string, data []byte) []byte
}

// made holds the values that the server makes up for an answer.
type made struct {
	id    string // unique per answer
	model string
}

// frame is one event of a stream.
type frame struct {
	event string // "" for formats without names
	data  any    // encoded as JSON, but for a raw
	at    place
}

// raw is data that is sent unchanged.
type raw string

// refusal is an error the service answers with.
type refusal struct {
	status     int
	kind, code string
	message    string
}

func (r *refusal) Error() string { return r.message }

type object = map[string]any

var formats = []*format{anthropicFormat, completionsFormat, responsesFormat, azureFormat, geminiFormat, vertexFormat, vertexKeyFormat, bedrockFormat}

const hidden = "(hidden)"

// credentials are the headers that hold keys.
var credentials = []string{"Authorization", "X-Api-Key", "Api-Key", "X-Goog-Api-Key", "Proxy-Authorization", "Cookie"}

func (s *Server) serve(f *format, w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	req, err := f.decode(r, body)
	admitted := s.admits(r.Header)
	ended := make(chan struct{})
	defer close(ended)
	m := s.record(f, &req, body, r.Header, ended)
	w.Header().Set("Request-Id", "req_"+m.id)

	var no *refusal
	switch {
	case !admitted:
		no = &refusal{http.StatusUnauthorized, "authentication_error", "invalid_api_key", "the key is not valid"}
	case err != nil:
		no = asRefusal(err)
	}
	if no != nil {
		writeJSON(w, no.status, f.refuse(*no))
		return
	}
	reply, ok := s.script.next(req.Model, req)
	if !ok {
		writeJSON(w, http.StatusNotFound, f.refuse(refusal{
			http.StatusNotFound, "not_found_error", "model_not_found", "model: " + req.Model + " is not scripted",
		}))
		return
	}
	if limits, ok := s.limits[req.Model]; ok {
		if no := limits.check(f, req); no != nil {
			writeJSON(w, no.status, f.refuse(*no))
			return
		}
		if reply.Usage == (provider.Usage{}) {
			reply.Usage = provider.Usage{Input: req.Tokens(), Output: 20}
		}
	}
	s.play(f, reply, m, w, r)
}

// admits reports whether a request has the key. Signatures are checked by the format that has them.
func (s *Server) admits(h http.Header) bool {
	authorization := h.Get("Authorization")
	given := []string{h.Get("X-Api-Key"), h.Get("X-Goog-Api-Key"), h.Get("Api-Key"), strings.TrimPrefix(authorization, "Bearer ")}
	return s.Key == "" || strings.HasPrefix(authorization, "AWS4-") || slices.Contains(given, s.Key)
}

// record keeps the request, without credentials.
func (s *Server) record(f *format, req *Request, body []byte, h http.Header, ended <-chan struct{}) made {
	req.API, req.Body, req.Header, req.Ended = f.api, body, h.Clone(), ended
	for _, name := range credentials {
		if req.Header.Get(name) != "" {
			req.Header.Set(name, hidden)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, *req)
	s.served++
	return made{id: fmt.Sprintf("%04d", s.served), model: req.Model}
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the client may have left
}

func (s *Server) listModels(w http.ResponseWriter, _ *http.Request) {
	data := []object{}
	for id := range s.script.models() {
		data = append(data, object{"id": id, "object": "model", "owned_by": "fake"})
	}
	writeJSON(w, http.StatusOK, object{"object": "list", "data": data})
}

func (s *Server) listTags(w http.ResponseWriter, _ *http.Request) {
	models := []object{}
	for id := range s.script.models() {
		models = append(models, object{"name": id, "model": id, "details": object{"family": "fake"}})
	}
	writeJSON(w, http.StatusOK, object{"models": models})
}
