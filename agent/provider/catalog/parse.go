package catalog

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"

	"go.yaml.in/yaml/v3"
)

// providers are the providers of a file, by name.
type providers map[string]userProvider

// maxNested bounds the brackets within each other in a file.
const maxNested = 64

// withoutMark returns a text without its byte order mark.
func withoutMark(content []byte) []byte { return bytes.TrimPrefix(content, []byte("\ufeff")) }

// parseJSON reads a models.json. A provider of a wrong form costs only itself, and an error with its line. Without
// a result, the file is no JSON. No error contains a value of the file.
func parseJSON(content []byte) (providers, []error) {
	var file struct {
		Providers map[string]json.RawMessage `json:"providers"`
	}
	if err := json.Unmarshal(content, &file); err != nil {
		if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
			return nil, []error{fmt.Errorf("line %d: it is not valid JSON", lineAt(content, int(syntax.Offset)))}
		}
		return nil, []error{errors.New("it is not an object with providers")}
	}
	list, problems := providers{}, []error(nil)
	for name, raw := range file.Providers {
		p, offset, err := decode(raw)
		if err != nil {
			at := max(bytes.Index(content, raw), 0) + offset
			problems = append(problems, providerError(lineAt(content, at), name, err))
			continue
		}
		list[name] = p
	}
	return list, problems
}

// decode reads a provider. offset is the place of an error in raw.
func decode(raw []byte) (p userProvider, offset int, err error) {
	err = json.Unmarshal(raw, &p)
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		if wrong.Field == "" {
			return p, int(wrong.Offset), errors.New("it is not an object")
		}
		return p, int(wrong.Offset), fmt.Errorf("%s has the wrong type", wrong.Field)
	}
	if err != nil {
		return p, 0, errors.New("it has a wrong form")
	}
	return p, 0, nil
}

func providerError(line int, name string, err error) error {
	return fmt.Errorf("line %d: the provider %q is left out because %w", line, name, err)
}

func lineAt(content []byte, offset int) int {
	return 1 + bytes.Count(content[:min(max(offset, 0), len(content))], []byte("\n"))
}

// parseYAML is parseJSON for a models.yml.
func parseYAML(content []byte) (providers, []error) {
	if depth(content) > maxNested {
		return nil, []error{errors.New("it has too many brackets within each other")}
	}
	var file struct {
		Providers map[string]yaml.Node `yaml:"providers"`
	}
	if err := yaml.Unmarshal(content, &file); err != nil {
		return nil, []error{yamlError(err)}
	}
	list, problems := providers{}, []error(nil)
	for name, node := range file.Providers {
		p, err := decodeNode(&node)
		if err != nil {
			problems = append(problems, providerError(node.Line, name, err))
			continue
		}
		list[name] = p
	}
	return list, problems
}

// decodeNode reads a provider. The library refuses a node whose aliases stand for very much.
func decodeNode(node *yaml.Node) (userProvider, error) {
	var value any
	if node.Decode(&value) != nil {
		return userProvider{}, errors.New("it has a wrong form")
	}
	raw, err := json.Marshal(value)
	if err != nil {
		return userProvider{}, errors.New("it has a wrong form")
	}
	p, _, err := decode(raw)
	return p, err
}

// depth returns the most brackets within each other. Those in quotes count, too; no real file has many.
func depth(content []byte) (most int) {
	now := 0
	for _, b := range content {
		switch b {
		case '[', '{':
			now++
			most = max(most, now)
		case ']', '}':
			now = max(now-1, 0)
		}
	}
	return most
}

var yamlLine = regexp.MustCompile(`^yaml: line (\d+): (did not find expected)?`)

// yamlError returns an error without values of the file.
func yamlError(err error) error {
	if _, wrong := errors.AsType[*yaml.TypeError](err); wrong {
		return errors.New("it is not a mapping with providers")
	}
	m := yamlLine.FindStringSubmatch(err.Error())
	if m == nil {
		return errors.New("it is not valid YAML")
	}
	line, _ := strconv.Atoi(m[1]) // digits
	if m[2] != "" {
		line++ // errors of the parser count lines from 0, those of the scanner from 1
	}
	return fmt.Errorf("line %d: it is not valid YAML", line)
}
