package connect

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session/intake"
)

// service returns the parameters of a service in the user's service file.
func (m Machine) service(file, name string) (params, error) {
	if file == "" {
		file = filepath.Join(m.Home, ".pg_service.conf")
	}
	const most = 1 << 20
	content, err := intake.ReadAll(m.Fs, file, most)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fault.New(fault.InvalidArgument, "The team store is the service %q, but there is no file %s.", name, file).With("path", file)
	}
	if err != nil {
		return nil, fault.New(fault.IO, "The service file of PostgreSQL cannot be read: %w.", err).With("path", file)
	}
	p, ok := parseService(string(content), name)
	if !ok {
		return nil, fault.New(fault.InvalidArgument, "The team store is the service %q, which is not in %s.", name, file).With("path", file)
	}
	return p, nil
}

// parseService reads a service as the driver does: of several with one name the last counts.
func parseService(content, name string) (p params, ok bool) {
	in := false
	for line := range strings.Lines(content) {
		line = strings.TrimSpace(line)
		switch {
		case line == "", strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, "[") && strings.HasSuffix(line, "]"):
			if in = line[1:len(line)-1] == name; in {
				p, ok = params{}, true
			}
		case in:
			key, value, _ := strings.Cut(line, "=")
			p[strings.TrimSpace(key)] = strings.TrimSpace(value)
		}
	}
	return p, ok
}
