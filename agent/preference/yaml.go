package preference

import (
	"bytes"
	"errors"
	"io"
	"reflect"
	"regexp"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/xcsh-ls/xcsh-ls/agent/peerfile"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
)

var errForm = errors.New("its form is not supported")

const roles = "modelRoles"

// setRole returns content with another model of a role. Every other byte stays.
func setRole(content []byte, role, value string) ([]byte, error) {
	return setYAML(content, value, func(d *yamlText) (string, error) {
		at, node := d.member(d.root, roles)
		switch {
		case at == nil:
			return d.addTop(roles + ":" + d.line + "  " + quoted(role) + ": " + quoted(value)), nil
		case node.Kind == yaml.MappingNode:
			return d.setIn(node, role, value)
		case node.ShortTag() == "!!null":
			return d.setNull(at, node, "{"+quoted(role)+": "+quoted(value)+"}")
		default:
			return "", errors.New(roles + " is not a mapping")
		}
	}, roles, role)
}

// setTop returns content with another value of a top-level setting. Every other byte stays.
func setTop(content []byte, key, value string) ([]byte, error) {
	return setYAML(content, value, func(d *yamlText) (string, error) {
		if at, _ := d.member(d.root, key); at == nil {
			return d.addTop(key + ": " + quoted(value)), nil
		}
		return d.setIn(d.root, key, value)
	}, key)
}

// setYAML edits content and verifies the result: the setting at path has the value, and nothing else
// differs.
func setYAML(content []byte, value string, edit func(*yamlText) (string, error), path ...string) ([]byte, error) {
	d, err := readYAML(content)
	if err != nil {
		return nil, err
	}
	text, err := edit(d)
	if err != nil {
		return nil, err
	}
	var before, after map[string]any
	if err := yaml.Unmarshal(content, &before); err != nil {
		return nil, err
	}
	if err := yaml.Unmarshal([]byte(text), &after); err != nil || !reflect.DeepEqual(with(before, value, path), after) {
		return nil, errForm
	}
	return []byte(text), nil
}

// with returns m with the value at path.
func with(m map[string]any, value string, path []string) map[string]any {
	if m == nil {
		m = map[string]any{}
	}
	if len(path) == 1 {
		m[path[0]] = value
		return m
	}
	inner, _ := m[path[0]].(map[string]any)
	m[path[0]] = with(inner, value, path[1:])
	return m
}

// yamlText is a YAML document and the places of its values.
type yamlText struct {
	text, line string // line is its line ending
	root       *yaml.Node
}

func readYAML(content []byte) (*yamlText, error) {
	decoder := yaml.NewDecoder(bytes.NewReader(content))
	var document, more yaml.Node
	err := decoder.Decode(&document)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	d := &yamlText{text: string(content), line: peerfile.Newline(content)}
	if errors.Is(err, io.EOF) { // empty, or comments only
		return d, nil
	}
	if err := decoder.Decode(&more); !errors.Is(err, io.EOF) {
		return nil, errors.New("it has several documents")
	}
	d.root = document.Content[0]
	if d.root.Kind != yaml.MappingNode {
		if d.root.ShortTag() == "!!null" && d.root.Value == "" {
			d.root = nil
			return d, nil
		}
		return nil, errors.New("it is not a mapping")
	}
	return d, nil
}

// member returns the key and the value of a member of a mapping, nil if there is none.
func (d *yamlText) member(mapping *yaml.Node, key string) (at, value *yaml.Node) {
	if mapping == nil {
		return nil, nil
	}
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		if k := mapping.Content[i]; k.Kind == yaml.ScalarNode && k.Value == key {
			return k, mapping.Content[i+1]
		}
	}
	return nil, nil
}

// addTop adds a line to the end of the document.
func (d *yamlText) addTop(line string) string {
	switch {
	case d.root != nil && d.root.Style&yaml.FlowStyle != 0:
		return "" // fails the verification
	case d.text != "" && !strings.HasSuffix(d.text, "\n"):
		return d.text + d.line + line + d.line
	default:
		return d.text + line + d.line
	}
}

// setIn sets a member of a mapping.
func (d *yamlText) setIn(mapping *yaml.Node, key, value string) (string, error) {
	at, old := d.member(mapping, key)
	if at != nil {
		return d.replace(at, old, value)
	}
	flow := mapping.Style&yaml.FlowStyle != 0
	start, ok := d.offset(mapping)
	switch {
	case !ok:
		return "", errForm
	case flow && len(mapping.Content) == 0:
		return d.text[:start+1] + quoted(key) + ": " + quoted(value) + d.text[start+1:], nil
	case flow:
		return d.text[:start+1] + quoted(key) + ": " + quoted(value) + ", " + d.text[start+1:], nil
	}
	// The position of a block mapping is that of its first key.
	indent := d.text[strings.LastIndexByte(d.text[:start], '\n')+1 : start]
	return d.text[:start] + quoted(key) + ": " + quoted(value) + d.line + indent + d.text[start:], nil
}

// replace replaces a value that is on one line.
func (d *yamlText) replace(key, old *yaml.Node, value string) (string, error) {
	if old.Kind != yaml.ScalarNode || old.Anchor != "" || old.Style&(yaml.TaggedStyle|yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
		return "", errForm
	}
	if old.Value == "" && old.Style == 0 {
		return d.setNull(key, old, quoted(value))
	}
	start, ok := d.offset(old)
	if !ok {
		return "", errForm
	}
	length := scalar.FindStringIndex(d.text[start:])
	if old.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) == 0 {
		length = []int{0, len(old.Value)}
		if !strings.HasPrefix(d.text[start:], old.Value) {
			return "", errForm // it continues on the next line
		}
	}
	if length == nil {
		return "", errForm
	}
	return d.text[:start] + quoted(value) + d.text[start+length[1]:], nil
}

// scalar matches a quoted scalar on one line.
var scalar = regexp.MustCompile(`^(?:"(?:[^"\\\n]|\\[^\n])*"|'(?:[^'\n]|'')*')`)

// setNull sets a member that has no value, or the word null: inner is its value.
func (d *yamlText) setNull(key, old *yaml.Node, inner string) (string, error) {
	if old.Value != "" {
		start, ok := d.offset(old)
		if !ok || !strings.HasPrefix(d.text[start:], old.Value) {
			return "", errForm
		}
		return d.text[:start] + inner + d.text[start+len(old.Value):], nil
	}
	start, ok := d.offset(key)
	if !ok {
		return "", errForm
	}
	colon := strings.IndexByte(d.text[start:], ':')
	if colon < 0 {
		return "", errForm
	}
	end := start + colon + 1
	return d.text[:end] + " " + inner + d.text[end:], nil
}

// offset returns the position of a node in bytes; the parser counts lines and characters.
func (d *yamlText) offset(n *yaml.Node) (at int, ok bool) {
	for range n.Line - 1 {
		next := strings.IndexByte(d.text[at:], '\n')
		if next < 0 {
			return 0, false
		}
		at += next + 1
	}
	for range n.Column - 1 {
		_, size := utf8.DecodeRuneInString(d.text[at:])
		if size == 0 {
			return 0, false
		}
		at += size
	}
	return at, n.Line > 0 && n.Column > 0
}

// plain matches texts that need no quotes in YAML.
var plain = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_.-]*(/[A-Za-z0-9_.:/-]*[A-Za-z0-9_])?$`)

// words are plain texts that YAML reads as other values, in any version.
var words = regexp.MustCompile(`(?i)^(true|false|yes|no|on|off|null|y|n)$`)

// quoted returns a string in YAML.
func quoted(s string) string {
	if plain.MatchString(s) && !words.MatchString(s) {
		return s
	}
	return string(rawjson.Quote(s)) // JSON is YAML
}
