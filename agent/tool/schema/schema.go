// Package schema validates the arguments of tools whose schemas are data, not Go types: those of a user's tools and of servers.
package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

const (
	maxNesting   = 12        // schemas and their members within each other
	maxMembers   = 1000      // values of a schema
	maxArguments = 256 << 10 // bytes
)

// MaxDepth is how many values arguments and details may have within each other.
const MaxDepth = 64

// validProperty is what every model service accepts.
var validProperty = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,64}$`)

// types are the types of JSON schema.
var types = []string{"array", "boolean", "integer", "null", "number", "object", "string"}

// Intents are the parameters in which the models of oh-my-pi and xcsh describe each call. A tool gets them only if its schema
// has them.
var Intents = []string{"i", "_i"}

// Parameters validates the arguments of a tool.
type Parameters struct {
	tool     string
	schema   *jsonschema.Schema
	resolved *jsonschema.Resolved
}

// New reads a schema. It refuses references, because the time to validate a value against a
// schema with them has no useful bound, and other files must not be read.
func New(tool string, raw json.RawMessage) (p Parameters, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = errors.New("its parameters are not a JSON schema")
		}
	}()
	var value any
	if len(raw) == 0 || json.Unmarshal(raw, &value) != nil {
		return p, errors.New("it has no parameters")
	}
	members := 0
	if err := checkSchema(value, maxNesting, &members); err != nil {
		return p, err
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(raw, &s); err != nil {
		return p, fmt.Errorf("its parameters are not a JSON schema: %w", err)
	}
	if s.Type != "object" {
		return p, errors.New(`its parameters must be a JSON schema of the type "object"`)
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		return p, fmt.Errorf("its parameters are not a JSON schema: %w", err)
	}
	return Parameters{tool, &s, resolved}, nil
}

// checkSchema fails for a schema that is too large, too deep, or has references.
func checkSchema(v any, depth int, members *int) error {
	if *members++; *members > maxMembers {
		return fmt.Errorf("its parameters have more than %d members", maxMembers)
	}
	if depth == 0 {
		return fmt.Errorf("its parameters have more than %d values within each other", maxNesting)
	}
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			if err := checkSchema(item, depth-1, members); err != nil {
				return err
			}
		}
	case map[string]any:
		for name, member := range v {
			if strings.HasPrefix(name, "$") {
				return fmt.Errorf("its parameters use %.20q, which is not supported", name)
			}
			if t, ok := member.(string); ok && name == "type" && !slices.Contains(types, t) {
				return fmt.Errorf("its parameters are not a JSON schema: there is no type %.20q", t)
			}
			if properties, ok := member.(map[string]any); ok && name == "properties" {
				for property := range properties {
					if !validProperty.MatchString(property) {
						return fmt.Errorf("its parameters have a property %.40q; use letters, digits, dots, hyphens and underscores", property)
					}
				}
			}
			if err := checkSchema(member, depth-1, members); err != nil {
				return err
			}
		}
	}
	return nil
}

// Check validates the arguments of a call and returns them as one line. The error is a sentence for the
// model.
func (p Parameters) Check(args json.RawMessage) (line json.RawMessage, err error) {
	defer func() {
		if r := recover(); r != nil {
			line, err = nil, p.invalid("they could not be validated")
		}
	}()
	if len(bytes.TrimSpace(args)) == 0 {
		args = json.RawMessage("{}")
	}
	if len(args) > maxArguments {
		return nil, p.invalid(fmt.Sprintf("they are longer than %d bytes", maxArguments))
	}
	d := json.NewDecoder(bytes.NewReader(bytes.ToValidUTF8(args, []byte("\uFFFD"))))
	d.UseNumber() // keeps large ones
	var object map[string]any
	if err := d.Decode(&object); err != nil || object == nil || !atEnd(d) {
		return nil, p.invalid("they must be one JSON object")
	}
	if !Shallow(object, MaxDepth) {
		return nil, p.invalid(fmt.Sprintf("they have more than %d values within each other", MaxDepth))
	}
	for _, name := range Intents {
		if _, has := p.schema.Properties[name]; !has {
			delete(object, name)
		}
	}
	dropNulls(p.schema, object)
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(object); err != nil {
		return nil, p.invalid("they must be one JSON object")
	}
	line = bytes.TrimSuffix(out.Bytes(), []byte("\n"))
	var plain any
	if err := json.Unmarshal(line, &plain); err != nil {
		return nil, p.invalid("they have a number that is too large")
	}
	if err := p.resolved.Validate(plain); err != nil {
		return nil, p.invalid(fault.OneLine(err.Error()))
	}
	return line, nil
}

func (p Parameters) invalid(why string) error {
	return fault.New(fault.InvalidArgument, "The arguments of %s are invalid: %s.", p.tool, strings.TrimSuffix(why, "."))
}

func atEnd(d *json.Decoder) bool {
	_, err := d.Token()
	return errors.Is(err, io.EOF)
}

// Shallow reports whether a value has at most depth values within each other.
func Shallow(v any, depth int) bool {
	if depth == 0 {
		return false
	}
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			if !Shallow(item, depth-1) {
				return false
			}
		}
	case map[string]any:
		for _, member := range v {
			if !Shallow(member, depth-1) {
				return false
			}
		}
	}
	return true
}

// dropNulls removes optional members that are null, which is how models leave them out of a call whose
// schema the service enforces.
func dropNulls(s *jsonschema.Schema, object map[string]any) {
	required := map[string]bool{}
	for _, name := range s.Required {
		required[name] = true
	}
	for name, member := range s.Properties {
		v, ok := object[name]
		switch v := v.(type) {
		case nil:
			if ok && !required[name] && !takesNull(member) {
				delete(object, name)
			}
		case map[string]any:
			dropNulls(member, v)
		case []any:
			for _, item := range v {
				if o, ok := item.(map[string]any); ok && member.Items != nil {
					dropNulls(member.Items, o)
				}
			}
		}
	}
}

// takesNull reports whether null is a value of its own.
func takesNull(s *jsonschema.Schema) bool {
	return s.Type == "null" || slices.Contains(s.Types, "null")
}
