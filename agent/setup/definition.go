package setup

import (
	"fmt"
	"maps"
	"math"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/redact"
)

var (
	namesOfPi  = regexp.MustCompile(`^[A-Za-z0-9_-]{1,100}$`)
	namesOfOmp = regexp.MustCompile(`^[A-Za-z0-9_.:-]{1,100}$`)
)

// server reads a definition. why is the reason that completes "it is not used: ".
func (l *looking) server(d defined) (s Server, why string) {
	pi := l.program == session.Pi
	switch {
	case pi && !namesOfPi.MatchString(d.name):
		return s, `a name has only letters, digits, "_" and "-"`
	case !namesOfOmp.MatchString(d.name):
		return s, `a name has at most 100 letters, digits, "_", ".", ":" and "-"`
	}
	r := fields{entry: d.entry}
	def := Definition{
		Command: r.text("command"), Args: r.texts("args"), Env: r.table("env"), Cwd: r.text("cwd"), URL: r.text("url"), Headers: r.table("headers"),
		ToolExposure: r.table("toolExposure"), RequestIDs: r.text("requestIdFormat"), Auth: r.scalars("auth"), OAuth: r.scalars("oauth"),
	}
	if on, ok := d.entry["instructions"].(bool); ok {
		def.Quiet = !on
	}
	if r.why != "" {
		return s, r.why
	}
	transport, why := l.transport(r.text("type"), def, d.own)
	if why != "" {
		return s, why
	}
	if pi && transport == HTTP {
		def.Command, def.Args = "", nil // pi takes the address if there are both
	}
	if def.Timeout, why = l.timeout(d.entry["timeout"]); why != "" {
		return s, why
	}
	return Server{
		Name: d.name, Path: d.path, Scope: d.scope, Source: d.source, Transport: transport, Starts: def.shown(),
		Variables: slices.Sorted(maps.Keys(def.Env)), HeaderNames: slices.Sorted(maps.Keys(def.Headers)),
		TimeoutMs: def.Timeout.Milliseconds(), Description: line(r.text("description"), maxWhy), Exposure: r.text("exposure"), Definition: def,
	}, r.why
}

// transport returns how a server is reached. own is a file of the program's own: the forms of others have no
// types.
func (l *looking) transport(typ string, def Definition, own bool) (t Transport, why string) {
	pi := l.program == session.Pi
	switch {
	case def.Command != "" && def.URL != "" && !pi:
		return "", "it has both a command and an address"
	case typ == "sse" && pi:
		return "", "the SSE transport of 2024 is not supported; use the streamable HTTP address, often /mcp instead of /sse"
	case typ == "":
		t = Stdio
		if def.URL != "" && (pi || !own) {
			t = HTTP
		}
	case typ == "stdio" && pi && def.URL != "":
		t = HTTP
	case typ == "stdio", typ == "local":
		t = Stdio
	case typ == "http", typ == "streamable-http", typ == "remote":
		t = HTTP
	case typ == "sse":
		t = SSE
	default:
		return "", "its type is unknown"
	}
	switch {
	case t == Stdio && def.Command == "" && def.URL != "":
		return "", `it has an address but no "type": "http"`
	case t == Stdio && def.Command == "":
		return "", "it has no command"
	case t != Stdio && def.URL == "":
		return "", "it has no address"
	}
	return t, ""
}

// timeout returns the time limit of calls: pi counts seconds, the others milliseconds.
func (l *looking) timeout(value any) (d time.Duration, why string) {
	unit, standard := time.Millisecond, 30*time.Second
	if l.program == session.Pi {
		unit, standard = time.Second, time.Minute
	}
	n, ok := value.(float64)
	if i, whole := value.(int64); whole {
		n, ok = float64(i), true
	}
	if l.program == session.Omp {
		if v := l.getenv("OMP_MCP_TIMEOUT_MS"); v != "" {
			if _, err := fmt.Sscan(v, &n); err == nil {
				ok, value = true, v
			}
		}
	}
	switch {
	case value == nil:
		return standard, ""
	case !ok || math.IsNaN(n) || n < 0:
		return 0, `"timeout" is not a positive number`
	case n == 0 && l.program == session.Pi:
		return standard, ""
	case n > float64(maxTimeout/unit):
		return maxTimeout, ""
	}
	return time.Duration(n * float64(unit)), ""
}

// fields reads the fields of a definition; why is the first error.
type fields struct {
	entry map[string]any
	why   string
}

func (f *fields) fail(name, form string) {
	if f.why == "" {
		f.why = fmt.Sprintf("%q must be %s", name, form)
	}
}

func (f *fields) text(name string) string {
	v, ok := f.entry[name]
	s, isText := v.(string)
	if ok && v != nil && !isText || len(s) > maxValue || strings.ContainsRune(s, 0) {
		f.fail(name, "a text")
		return ""
	}
	return s
}

func (f *fields) texts(name string) (list []string) {
	v := f.entry[name]
	if v == nil {
		return nil
	}
	for _, item := range anys(v) {
		s, ok := scalar(item)
		if !ok || len(s) > maxValue || strings.ContainsRune(s, 0) || len(list) >= maxValues {
			f.fail(name, "a list of texts")
			return nil
		}
		list = append(list, s)
	}
	if list == nil {
		if _, isList := v.([]any); !isList {
			f.fail(name, "a list of texts")
		}
	}
	return list
}

// table reads an object of texts.
func (f *fields) table(name string) map[string]string {
	v, ok := f.entry[name]
	if !ok || v == nil {
		return nil
	}
	object, ok := v.(map[string]any)
	if !ok || len(object) > maxValues {
		f.fail(name, "an object of texts")
		return nil
	}
	table := make(map[string]string, len(object))
	for key, v := range object {
		s, ok := scalar(v)
		if !ok || key == "" || len(key) > 1000 || len(s) > maxValue || strings.ContainsAny(key, "=\x00\r\n") || strings.ContainsRune(s, 0) {
			f.fail(name, "an object of texts")
			return nil
		}
		table[key] = s
	}
	return table
}

// scalars reads the texts, numbers and words of an object, and nothing else of it.
func (f *fields) scalars(name string) map[string]string {
	object, _ := f.entry[name].(map[string]any)
	table := map[string]string{}
	for key, v := range object {
		if s, ok := scalar(v); ok && len(table) < maxValues && len(s) <= maxValue {
			table[key] = s
		}
	}
	return table
}

// scalar returns a text, number or word of JSON, YAML or TOML as a text.
func scalar(v any) (s string, ok bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case bool, int, int64, uint64:
		return fmt.Sprint(v), true
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1e15 {
			return fmt.Sprintf("%.0f", v), true
		}
		return fmt.Sprint(v), true
	default:
		return "", false
	}
}

// anys returns the values of a list.
func anys(v any) []any {
	list, _ := v.([]any)
	return list
}

const maxShown = 400 // bytes of a command line or an address

// shown returns the command line or address without secrets. Nothing is expanded.
func (d Definition) shown() string {
	if d.URL != "" {
		return line(shownURL(d.URL), maxShown)
	}
	words := []string{d.Command}
	secret := false // the last word was the name of an option with a secret
	for _, arg := range d.Args {
		name, value, assigned := strings.Cut(arg, "=")
		switch {
		case secret && !strings.HasPrefix(arg, "-"):
			arg = hidden
		case assigned && redact.IsName(strings.TrimLeft(name, "-")) && value != "":
			arg = name + "=" + hidden
		}
		secret = strings.HasPrefix(arg, "-") && !assigned && redact.IsName(strings.TrimLeft(arg, "-"))
		words = append(words, shownText(arg))
	}
	for i, w := range words {
		if w == "" || strings.ContainsAny(w, " \t\n") {
			words[i] = quote(w)
		}
	}
	return line(strings.Join(words, " "), maxShown)
}

// hidden is shown in place of a secret.
const hidden = "…"

// shownText returns a text without the secrets that are recognized in it, addresses with a password among
// them.
func shownText(s string) string {
	if strings.Contains(s, "://") {
		return shownURL(s)
	}
	if opaque.MatchString(s) && strings.ContainsAny(s, "0123456789") {
		return hidden
	}
	return redact.Replace(s, redact.NewScanner().Scan(s))
}

// opaque matches words that may be keys: long ones without any structure.
var opaque = regexp.MustCompile(`^[A-Za-z0-9_=+~-]{24,}$`)

// shownURL returns an address without its user information and the values of its query.
func shownURL(s string) string {
	u, err := url.Parse(s)
	if err != nil || u.Opaque != "" {
		return hidden
	}
	if u.User != nil {
		u.User = url.User(hidden)
	}
	query := u.Query()
	for name := range query {
		query[name] = []string{hidden}
	}
	parts := strings.Split(u.Path, "/")
	for i, part := range parts {
		if opaque.MatchString(part) && strings.ContainsAny(part, "0123456789") {
			parts[i] = hidden
		}
	}
	u.Path, u.RawPath = strings.Join(parts, "/"), ""
	u.RawQuery, u.Fragment = query.Encode(), ""
	text, err := url.PathUnescape(u.String())
	if err != nil {
		return hidden
	}
	return redact.Replace(text, redact.NewScanner().Scan(text))
}

// quote quotes a name for a message.
func quote(s string) string { return fmt.Sprintf("%q", line(s, 100)) }

// homePath expands a leading ~ in a path.
func homePath(path, home string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok && home != "" {
		return home + string(os.PathSeparator) + rest
	}
	return path
}
