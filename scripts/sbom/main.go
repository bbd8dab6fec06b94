// Command sbom writes a bill of material of a Go program: what the linker recorded in it, as
// CycloneDX 1.5 JSON. The same program always gives the same bytes.
//
//	sbom [-version V] PROGRAM DOCUMENT
package main

import (
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"runtime/debug"
	"strings"
)

func main() {
	version := flag.String("version", "", "what the program calls its version; else that of its module")
	flag.Parse()
	if flag.NArg() != 2 {
		fmt.Fprintln(os.Stderr, "usage: sbom [-version V] PROGRAM DOCUMENT")
		os.Exit(2)
	}
	if err := write(flag.Arg(0), flag.Arg(1), *version); err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

func write(program, document, version string) error {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return fmt.Errorf("%s is no Go program: %w", program, err)
	}
	content, err := os.ReadFile(program)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(content)
	text, err := json.MarshalIndent(billOf(info, filepath.Base(program), version, hex.EncodeToString(sum[:])), "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(document, append(text, '\n'), 0o644) //nolint:gosec // to be published
}

// bill is the part of a CycloneDX document that is filled in.
type bill struct {
	Format       string       `json:"bomFormat"`
	Spec         string       `json:"specVersion"`
	Version      int          `json:"version"`
	Metadata     metadata     `json:"metadata"`
	Components   []component  `json:"components"`
	Dependencies []dependency `json:"dependencies"`
}

type metadata struct {
	Component component `json:"component"`
}

type component struct {
	Ref        string     `json:"bom-ref"`
	Type       string     `json:"type"`
	Name       string     `json:"name"`
	Version    string     `json:"version"`
	Hashes     []hash     `json:"hashes,omitempty"`
	URL        string     `json:"purl"`
	Properties []property `json:"properties,omitempty"`
}

type hash struct {
	Algorithm string `json:"alg"`
	Content   string `json:"content"`
}

type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type dependency struct {
	Ref       string   `json:"ref"`
	DependsOn []string `json:"dependsOn"`
}

// billOf is what is in a program. The linker does not record which module needs which, so all
// of them are named as what the program needs.
func billOf(info *buildinfo.BuildInfo, name, version, sum string) bill {
	if version == "" {
		version = info.Main.Version
	}
	program := module(&debug.Module{Path: info.Main.Path, Version: version})
	program.Type, program.Name = "application", strings.TrimSuffix(name, ".exe")
	program.Hashes = []hash{{"SHA-256", sum}}
	for _, s := range info.Settings {
		switch s.Key {
		case "GOOS", "GOARCH", "CGO_ENABLED", "-trimpath", "-tags":
			program.Properties = append(program.Properties, property{"go:build:" + s.Key, s.Value})
		}
	}
	components := []component{module(&debug.Module{Path: "std", Version: strings.TrimPrefix(info.GoVersion, "go")})}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		components = append(components, module(m))
	}
	needs := dependency{Ref: program.Ref}
	for _, c := range components {
		needs.DependsOn = append(needs.DependsOn, c.Ref)
	}
	return bill{"CycloneDX", "1.5", 1, metadata{program}, components, []dependency{needs}}
}

// module is a Go module as a component. Its sum is that of go.sum, over all its files.
func module(m *debug.Module) component {
	url := "pkg:golang/" + path.Clean(m.Path) + "@" + m.Version
	c := component{Ref: url, Type: "library", Name: m.Path, Version: m.Version, URL: url}
	if m.Sum != "" {
		c.Properties = []property{{"go:sum", m.Sum}}
	}
	return c
}
