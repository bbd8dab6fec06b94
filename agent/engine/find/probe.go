package find

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"sync"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/internal/durable"
	"github.com/xcsh-ls/xcsh-ls/session/intake"
)

const (
	// versionLimit is how long a program may take to print its version.
	versionLimit = 5 * time.Second

	// shimAge is how long the version of a program is remembered whose file says nothing about it.
	shimAge = time.Minute

	// maxKnown bounds the number of stored versions.
	maxKnown = 64

	// maxStored bounds the size of the files of this package, in bytes.
	maxStored = 64 << 10
)

// known is a version that was determined, and the state of the program's file at that time. Package is the version of
// its package: npm gives all files the same time, and a script that only loads others stays as long as it was.
type known struct {
	Version string    `json:"version"`
	Size    int64     `json:"size"`
	Time    time.Time `json:"time"`
	Package string    `json:"package,omitempty"`

	until time.Time // when it is asked for again; zero: when the file has changed
}

// probes determines versions and remembers them, in a file if path is set. It is safe for concurrent use.
type probes struct {
	m    Machine
	path string // "" stores nothing

	mu      sync.Mutex
	loaded  bool                     // guarded by mu
	all     map[string]known         // by path; guarded by mu
	running map[string]chan struct{} // closed when the version of a path is determined; guarded by mu
}

// subject is a program whose version is to be determined.
type subject struct {
	file    string // that of the program; a script is run by another one
	pack    string // the version of its package, "" if it has none
	shim    bool   // its file says nothing about its version
	command Command
}

// version returns the version that a program prints with --version, "" if it prints none. An error is not remembered.
func (p *probes) version(ctx context.Context, s subject) (string, error) {
	info, err := p.m.Fs.Stat(s.file)
	if err != nil {
		return "", err
	}
	now := known{Size: info.Size(), Time: info.ModTime(), Package: s.pack}
	for {
		v, ok, wait := p.claim(s.file, now)
		switch {
		case ok:
			return v, nil
		case wait == nil:
			return p.ask(ctx, s, now)
		}
		select {
		case <-wait:
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
}

// claim returns a remembered version. Otherwise it returns a channel to wait for another caller who is asking, or none
// if the caller must ask.
func (p *probes) claim(path string, now known) (v string, ok bool, wait <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.loadLocked()
	k, ok := p.all[path]
	if ok && k.Size == now.Size && k.Time.Equal(now.Time) && k.Package == now.Package && (k.until.IsZero() || p.m.Now().Before(k.until)) {
		return k.Version, true, nil
	}
	if running := p.running[path]; running != nil {
		return "", false, running
	}
	p.running[path] = make(chan struct{})
	return "", false, nil
}

// ask runs the program and remembers its answer.
func (p *probes) ask(ctx context.Context, s subject, now known) (v string, err error) {
	defer func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		close(p.running[s.file])
		delete(p.running, s.file)
		if err == nil {
			if now.Version = v; s.shim {
				now.until = p.m.Now().Add(shimAge)
			}
			p.all[s.file] = now
			p.storeLocked()
		}
	}()
	c := s.command
	c.Args, c.Limit = append(slices.Clip(c.Args), "--version"), versionLimit
	out, err := p.m.Run(ctx, c)
	if v = findVersion(out); v != "" {
		return v, nil // some programs print it and fail
	}
	return "", err
}

// loadLocked reads the stored versions. A file that cannot be read counts as empty.
func (p *probes) loadLocked() {
	if p.loaded {
		return
	}
	p.loaded, p.all, p.running = true, map[string]known{}, map[string]chan struct{}{}
	if p.path == "" {
		return
	}
	stored := map[string]known{}
	content, err := intake.ReadAll(p.m.Fs, p.path, maxStored)
	if err != nil || jsonv2.Unmarshal(content, &stored) != nil {
		return
	}
	for path, k := range stored {
		if filepath.IsAbs(path) && validText.MatchString(k.Version) {
			p.all[path] = k
		}
	}
}

// storeLocked writes the versions. An error only costs time at the next start.
func (p *probes) storeLocked() {
	if p.path == "" {
		return
	}
	stored := map[string]known{}
	for path, k := range p.all {
		if len(stored) < maxKnown && k.until.IsZero() && k.Version != "" {
			stored[path] = k
		}
	}
	if content, err := jsonv2.Marshal(stored, jsonv2.Deterministic(true)); err == nil {
		_ = durable.WriteFile(p.m.Fs, p.path, append(content, '\n'), 0o600)
	}
}

// pack is the part of a package.json that is used.
type pack struct {
	Version string `json:"version"`
	Engines struct {
		Node string `json:"node"`
	} `json:"engines"`
}

// packageOf returns the description of the package that a script belongs to.
func (m Machine) packageOf(script string) (pack, bool) {
	dir := filepath.Dir(script)
	for range 8 {
		content, err := intake.ReadAll(m.Fs, filepath.Join(dir, "package.json"), maxSettings)
		var p pack
		if err == nil && jsonv2.Unmarshal(content, &p) == nil && validText.MatchString(p.Version) {
			return p, true
		}
		up := filepath.Dir(dir)
		if up == dir || filepath.Base(dir) == "node_modules" {
			break
		}
		dir = up
	}
	return pack{}, false
}

// firstLine returns the beginning of the first line of a file, in which the interpreter of a script stands.
func (m Machine) firstLine(path string) string {
	f, err := m.Fs.Open(path)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }()
	line := make([]byte, 256)
	n, err := f.Read(line)
	if err != nil && n == 0 {
		return ""
	}
	for i, c := range line[:n] {
		if c == '\n' {
			return string(line[:i])
		}
	}
	return string(line[:n])
}

// stored reads a JSON file of this package. A missing file leaves v as it is.
func stored(fsys afero.Fs, path string, v any) error {
	content, err := intake.ReadAll(fsys, path, maxStored)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	return jsonv2.Unmarshal(content, v)
}
