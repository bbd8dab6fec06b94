package setup

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/BurntSushi/toml"
	"go.yaml.in/yaml/v3"
)

// maxNested bounds the brackets within each other in a file.
const maxNested = 64

var errNested = errors.New("it has too many brackets within each other")

// nested fails for a text with too many brackets within each other, which a parser would follow to any depth.
// Brackets in quotes count, too; no real file has so many.
func nested(text string) error {
	depth := 0
	for i := range len(text) {
		switch text[i] {
		case '[', '{':
			if depth++; depth > maxNested {
				return errNested
			}
		case ']', '}':
			depth = max(depth-1, 0)
		}
	}
	return nil
}

// jsonError returns an error that says where a text is no JSON. It contains nothing of the text.
func jsonError(text string, err error) error {
	syntax, ok := errors.AsType[*json.SyntaxError](err)
	if !ok {
		return errors.New("it is not a JSON object")
	}
	at := min(int(syntax.Offset), len(text))
	return fmt.Errorf("line %d: it is not valid JSON", 1+strings.Count(text[:at], "\n"))
}

func parseTOML(text string) (top map[string]any, err error) {
	if err := nested(text); err != nil {
		return nil, err
	}
	if _, err := toml.Decode(text, &top); err != nil {
		if at, ok := errors.AsType[toml.ParseError](err); ok {
			return nil, fmt.Errorf("line %d: it is not valid TOML", at.Position.Line)
		}
		return nil, errors.New("it is not valid TOML")
	}
	return top, nil
}

// parseYAML parses a mapping. The library refuses texts whose aliases stand for very much.
func parseYAML(text string) (top map[string]any, err error) {
	if err := nested(text); err != nil {
		return nil, err
	}
	if err := yaml.Unmarshal([]byte(text), &top); err != nil {
		if _, wrong := errors.AsType[*yaml.TypeError](err); wrong { // it shows values
			return nil, errors.New("it is not a mapping")
		}
		return nil, errors.New(strings.TrimPrefix(err.Error(), "yaml: "))
	}
	return top, nil
}
