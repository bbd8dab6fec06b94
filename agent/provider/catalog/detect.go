package catalog

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
)

// listTimeout is the default timeout for a server on this machine to list its models.
const listTimeout = 700 * time.Millisecond

// maxAnswer bounds such an answer, in bytes.
const maxAnswer = 4 << 20

// Detector finds servers on this machine that run models. It sends requests to no other address.
// The zero value checks the usual addresses; nil checks none.
type Detector struct {
	Client  *http.Client  // nil: one without proxies and redirects
	Servers []Server      // nil: [Servers]
	Timeout time.Duration // of all together; 0: 700 ms
	Keep    time.Duration // how long the list of all models is kept; 0: not at all

	mu   sync.Mutex
	kept []provider.Model // guarded by mu
	at   time.Time        // guarded by mu; when kept was found
}

// Server is a place at which a server may be.
type Server struct {
	Provider string // the provider of its models
	URL      string // without a path
	Ollama   bool   // it lists its models as Ollama does
}

// Servers are the usual places.
var Servers = []Server{
	{"ollama", "http://127.0.0.1:11434", true},
	{"lmstudio", "http://127.0.0.1:1234", false},
	{"llama.cpp", "http://127.0.0.1:8080", false},
	{"vllm", "http://127.0.0.1:8000", false},
}

// models queries all places at once, unless it did so just now.
func (d *Detector) models(ctx context.Context) []provider.Model {
	if d == nil {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.at.IsZero() && time.Since(d.at) < d.Keep {
		return slices.Clone(d.kept)
	}
	found := d.ask(ctx, func(Server) bool { return true })
	if ctx.Err() == nil {
		d.kept, d.at = found, time.Now()
	}
	return slices.Clone(found)
}

// of queries the places of one provider.
func (d *Detector) of(ctx context.Context, name string) []provider.Model {
	return d.ask(ctx, func(s Server) bool { return s.Provider == name })
}

func (d *Detector) ask(ctx context.Context, wanted func(Server) bool) []provider.Model {
	if d == nil {
		return nil
	}
	servers := d.Servers
	if servers == nil {
		servers = Servers
	}
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(d.Timeout, listTimeout))
	defer cancel()
	client := d.Client
	if client == nil {
		client = localClient()
	}
	found := make([][]provider.Model, len(servers))
	var all sync.WaitGroup
	for i, s := range servers {
		if wanted(s) {
			all.Go(func() { found[i] = s.models(ctx, client) })
		}
	}
	all.Wait()
	var models []provider.Model
	for _, list := range found {
		models = append(models, list...)
	}
	return models
}

// models returns the models of one server, none if there is no such server.
func (s Server) models(ctx context.Context, client *http.Client) []provider.Model {
	if s.Ollama {
		return s.ollama(ctx, client)
	}
	var answer struct {
		Data []struct {
			ID          string `json:"id"`
			MaxModelLen int    `json:"max_model_len"` // vLLM's
		} `json:"data"`
	}
	if !get(ctx, client, s.URL+"/v1/models", &answer) {
		return nil
	}
	var models []provider.Model
	for _, m := range answer.Data {
		models = append(models, s.model(m.ID, m.MaxModelLen))
	}
	return models
}

// ollama also asks for the windows of the loaded models: the window that Ollama really uses is
// often far smaller than the one that the model supports, and Ollama silently cuts longer input.
func (s Server) ollama(ctx context.Context, client *http.Client) []provider.Model {
	var tags, loaded struct {
		Models []struct {
			Name          string `json:"name"`
			ContextLength int    `json:"context_length"`
		} `json:"models"`
	}
	if !get(ctx, client, s.URL+"/api/tags", &tags) {
		return nil
	}
	windows := map[string]int{}
	if get(ctx, client, s.URL+"/api/ps", &loaded) {
		for _, m := range loaded.Models {
			windows[m.Name] = m.ContextLength
		}
	}
	var models []provider.Model
	for _, m := range tags.Models {
		models = append(models, s.model(m.Name, windows[m.Name]))
	}
	return models
}

func (s Server) model(id string, window int) provider.Model {
	return provider.Model{
		ID: id, Name: id, Provider: s.Provider, API: provider.OpenAICompletions, BaseURL: s.URL + "/v1",
		Input: []string{"text"}, Cost: &provider.Cost{}, ContextWindow: window,
		Compat: json.RawMessage(`{"supportsStore":false,"supportsDeveloperRole":false,"supportsReasoningEffort":false,"maxTokensField":"max_tokens"}`),
	}
}

func get(ctx context.Context, client *http.Client, url string, v any) bool {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return false
	}
	res, err := client.Do(req)
	if err != nil {
		return false
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK || !strings.Contains(res.Header.Get("Content-Type"), "json") {
		return false
	}
	return json.NewDecoder(io.LimitReader(res.Body, maxAnswer)).Decode(v) == nil
}
