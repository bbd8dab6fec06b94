package redact

import (
	"encoding/json"
	"strings"
)

// leastVariable is the length of the shortest variable that is treated as a secret.
const leastVariable = 8

// KnownOf returns the values of variables of the environment, each NAME=value, that are secrets
// by their names.
func KnownOf(environ []string) (known []string) {
	for _, variable := range environ {
		name, value, _ := strings.Cut(variable, "=")
		if len(value) < leastVariable || isPlaceholder(value) || isFile(value) || isNumber(value) {
			continue
		}
		s := strengthOf(name)
		if s >= strong || s == weak && (assignment{shell: true}).judge(value, s) == yes {
			known = append(known, value)
		}
	}
	return known
}

// KnownIn returns the keys in a JSON file in which programs keep keys, such as an auth.json. A
// key may also be the name of a variable, which getenv looks up. An unreadable file has none.
func KnownIn(file []byte, getenv func(string) string) (known []string) {
	var v any
	if json.Unmarshal(file, &v) != nil {
		return nil
	}
	eachKey("", v, func(key string) {
		if name := strings.Trim(strings.TrimPrefix(key, "$"), "{}"); getenv(name) != "" {
			key = getenv(name)
		}
		if scheme, rest, ok := strings.Cut(key, " "); ok && len(scheme) < 10 {
			key = rest // Authorization: Bearer …
		}
		if len(key) >= leastKnown && !strings.HasPrefix(key, "!") && !strings.Contains(key, " ") && !isPlaceholder(key) {
			known = append(known, key)
		}
	})
	return known
}

// keyMembers are the members of an auth.json and of headers that hold keys without being
// named like it.
var keyMembers = map[string]bool{"key": true, "access": true, "refresh": true, "authorization": true, "api_key": true}

func eachKey(name string, v any, f func(string)) {
	switch v := v.(type) {
	case string:
		if keyMembers[lower(name)] || strengthOf(name) >= strong {
			f(v)
		}
	case []any:
		for _, e := range v {
			eachKey(name, e, f)
		}
	case map[string]any:
		for name, e := range v {
			eachKey(name, e, f)
		}
	}
}
