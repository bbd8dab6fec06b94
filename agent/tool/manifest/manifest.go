package manifest

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	jsonv2 "github.com/go-json-experiment/json"
)

const (
	maxManifest    = 64 << 10 // bytes
	maxDescription = 4000     // characters
	defaultTimeout = time.Minute
	maxTimeout     = 10 * time.Minute
)

// manifest is the content of a manifest file.
type manifest struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
	Executable  string          `json:"executable"`     // relative to the folder, with slashes
	Timeout     float64         `json:"timeoutSeconds"` // 0 is a minute
	ReadOnly    bool            `json:"readOnly"`
}

// validName is what every model service accepts.
var validName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]{0,63}$`)

// parse reads a manifest. The error completes a sentence about the file.
func parse(raw []byte) (m manifest, err error) {
	if err := jsonv2.Unmarshal(raw, &m, jsonv2.RejectUnknownMembers(true)); err != nil {
		return m, fmt.Errorf("it is not a manifest: %s", strings.TrimPrefix(err.Error(), "json: "))
	}
	switch {
	case !validName.MatchString(m.Name):
		return m, errors.New("its name must begin with a letter and have at most 64 letters, digits, hyphens and underscores")
	case strings.TrimSpace(m.Description) == "":
		return m, errors.New("it has no description")
	case utf8.RuneCountInString(m.Description) > maxDescription:
		return m, fmt.Errorf("its description is longer than %d characters", maxDescription)
	case strings.ContainsFunc(m.Description, unshowable):
		return m, errors.New("its description has control characters")
	case m.Timeout < 0 || m.Timeout > maxTimeout.Seconds():
		return m, fmt.Errorf("its timeoutSeconds must be from 1 to %g", maxTimeout.Seconds())
	case !localFile(m.Executable):
		return m, errors.New("its executable must be the name of a file in the same folder")
	}
	return m, nil
}

// unshowable reports whether r is neither a printable character nor white space of a text.
func unshowable(r rune) bool { return r != '\n' && r != '\t' && !unicode.IsPrint(r) }

// localFile reports whether a name stays in its folder on every system.
func localFile(name string) bool {
	return name != "" && name != "." && !strings.ContainsAny(name, "\\:\x00") && filepath.IsLocal(filepath.FromSlash(name)) &&
		!strings.HasSuffix(name, "/") && !strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) })
}

// timeout returns the time limit of a call.
func (m manifest) timeout() time.Duration {
	if m.Timeout == 0 {
		return defaultTimeout
	}
	return time.Duration(m.Timeout * float64(time.Second))
}
