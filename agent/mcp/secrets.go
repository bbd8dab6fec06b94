package mcp

import (
	"cmp"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/xcsh-ls/xcsh-ls/agent/environ"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session/redact"
)

const (
	concealed = "[concealed]"

	leastValue  = 4 // bytes of a value that is concealed in messages
	leastSecret = 8 // bytes of a value that is concealed in results
)

// secrets conceals the secret values of a server's definition.
type secrets struct {
	scanner *redact.Scanner

	mu       sync.Mutex
	messages []string // values that no message has; guarded by mu
	results  []string // values that no result has; guarded by mu
}

func newSecrets(s Server) *secrets {
	known := &secrets{scanner: redact.NewScanner(redact.KnownOf(s.Env)...)}
	for _, v := range s.Env {
		name, value, _ := strings.Cut(v, "=")
		if value == s.Name {
			continue // every sentence about the server has it
		}
		known.add(value, environ.Suspicious(name))
	}
	for _, value := range s.Headers {
		known.add(value, true)
		if _, token, ok := strings.Cut(value, " "); ok {
			known.add(token, true)
		}
	}
	if u, err := url.Parse(s.URL); err == nil {
		if password, ok := u.User.Password(); ok {
			known.add(password, true)
		}
		for _, values := range u.Query() {
			for _, v := range values {
				known.add(v, true)
			}
		}
		if u.RawQuery != "" {
			known.add(u.RawQuery, true)
		}
	}
	return known
}

// add makes a value a secret. It is concealed in results only if it is likely to be secret: a value such as "production" is a
// word of many texts.
func (k *secrets) add(value string, likely bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	longest := func(a, b string) int { return cmp.Compare(len(b), len(a)) }
	if len(value) >= leastValue && !slices.Contains(k.messages, value) {
		k.messages = append(k.messages, value)
		slices.SortStableFunc(k.messages, longest)
	}
	if likely && len(value) >= leastSecret && !slices.Contains(k.results, value) {
		k.results = append(k.results, value)
		slices.SortStableFunc(k.results, longest)
	}
}

// message returns the words of a server or of an error so that they can be shown and logged.
func (k *secrets) message(s string) string {
	k.mu.Lock()
	values := slices.Clone(k.messages)
	k.mu.Unlock()
	s = replaceAll(s, values)
	return redact.Replace(s, k.scanner.Scan(s))
}

// line is message on one line.
func (k *secrets) line(s string) string { return fault.OneLine(strings.TrimSpace(k.message(s))) }

// result returns a text of a result, readable and without the secrets of the definition.
func (k *secrets) result(s string) string { return replaceAll(tool.Printable(s), k.inResults()) }

// inResults returns the values that no result has.
func (k *secrets) inResults() []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Clone(k.results)
}

func replaceAll(s string, values []string) string {
	for _, v := range values {
		s = strings.ReplaceAll(s, v, concealed)
	}
	return s
}
