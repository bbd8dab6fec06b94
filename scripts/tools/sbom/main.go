// Sbom writes a bill of materials of a Go program, as CycloneDX 1.5 JSON, with the licence of each module. The output depends only on the
// program, its modules and the flags, so that two builds of a release have the same document.
//
//	go run ./sbom -version 1.2.3 -date 2006-01-02T15:04:05Z -output FILE PROGRAM
package main

import (
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"
	"github.com/CycloneDX/cyclonedx-gomod/pkg/generate/bin"
	"github.com/google/uuid"
	"github.com/rs/zerolog"
)

// root is the directory of the program's module, from the module that this program is in.
const root = "../.."

func main() {
	version := flag.String("version", "", "the version of the program")
	date := flag.String("date", "", "the time of the document, as RFC 3339")
	output := flag.String("output", "", "the file to write")
	flag.Parse()
	if err := run(*version, *date, *output, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

func run(version, date, output string, args []string) error {
	if version == "" || output == "" || len(args) != 1 {
		return errors.New("usage: sbom -version VERSION -date TIME -output FILE PROGRAM")
	}
	at, err := time.Parse(time.RFC3339, date)
	if err != nil {
		return fmt.Errorf("-date: %w", err)
	}
	generator, err := bin.NewGenerator(args[0], bin.WithLogger(zerolog.Nop()), bin.WithIncludeStdlib(true), bin.WithVersionOverride(version))
	if err != nil {
		return err
	}
	bom, err := generator.Generate()
	if err != nil {
		return err
	}
	if err := addLicences(bom, args[0]); err != nil {
		return err
	}
	bom.Metadata.Timestamp = at.UTC().Format(time.RFC3339)
	bom.Metadata.Tools = &cdx.ToolsChoice{Components: &[]cdx.Component{generatorTool()}}
	text, err := encode(bom)
	if err != nil {
		return err
	}
	// A random number would differ between two builds; version 8 is the one for values of a program's own making.
	bom.SerialNumber = uuid.NewHash(sha256.New(), uuid.NameSpaceURL, text, 8).URN()
	if text, err = encode(bom); err != nil {
		return err
	}
	return os.WriteFile(output, text, 0o644)
}

func encode(bom *cdx.BOM) ([]byte, error) {
	var text bytes.Buffer
	err := cdx.NewBOMEncoder(&text, cdx.BOMFileFormatJSON).SetPretty(true).EncodeVersion(bom, cdx.SpecVersion1_5)
	return text.Bytes(), err
}

// generatorTool describes the library that reads the program.
func generatorTool() cdx.Component {
	const path = "github.com/CycloneDX/cyclonedx-gomod"
	tool := cdx.Component{Type: cdx.ComponentTypeApplication, Name: "cyclonedx-gomod"}
	if info, ok := debug.ReadBuildInfo(); ok {
		if i := slices.IndexFunc(info.Deps, func(m *debug.Module) bool { return m.Path == path }); i >= 0 {
			tool.Version = info.Deps[i].Version
		}
	}
	return tool
}

// addLicences sets the licence of the program and of each module, and fails if one is unknown. The generator could do so too, but
// it would first download the program's own module, in a version that has not been published yet.
func addLicences(bom *cdx.BOM, program string) error {
	dirs, err := moduleDirs(program)
	if err != nil {
		return err
	}
	if err := setLicence(bom.Metadata.Component, root); err != nil {
		return err
	}
	for i := range *bom.Components {
		c := &(*bom.Components)[i]
		if err := setLicence(c, dirs[c.Name]); err != nil {
			return err
		}
	}
	return nil
}

// moduleDirs returns the directories of the modules that are linked into a program, by their paths.
func moduleDirs(program string) (map[string]string, error) {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return nil, err
	}
	args := []string{"mod", "download", "-json"}
	for _, m := range info.Deps {
		if m.Replace != nil {
			return nil, fmt.Errorf("%s is replaced by %s, whose licence isn't looked up", m.Path, m.Replace.Path)
		}
		args = append(args, m.Path+"@"+m.Version)
	}
	download := exec.Command("go", args...)
	download.Dir, download.Stderr = root, os.Stderr
	text, err := download.Output()
	if err != nil {
		return nil, fmt.Errorf("go mod download: %w", err)
	}
	goroot, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return nil, fmt.Errorf("go env: %w", err)
	}
	dirs := map[string]string{"std": strings.TrimSpace(string(goroot))}
	for decoder := json.NewDecoder(bytes.NewReader(text)); decoder.More(); {
		var m struct{ Path, Dir string }
		if err := decoder.Decode(&m); err != nil {
			return nil, err
		}
		dirs[m.Path] = m.Dir
	}
	return dirs, nil
}
