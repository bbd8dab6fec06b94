// Command gen makes the embedded catalogue of models of an unpacked npm package
// @earendil-works/pi-ai:
//
//	go run ./agent/provider/catalog/gen PACKAGE-DIR
//
// It keeps the models that are supported here and the facts that are used.
package main

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/provider/catalog"
)

const target = "agent/provider/catalog/models.json.gz"

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: gen PACKAGE-DIR")
		os.Exit(2)
	}
	if err := generate(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func generate(dir string) error {
	var pkg struct{ Name, Version string }
	if err := readJSON(filepath.Join(dir, "package.json"), &pkg); err != nil {
		return err
	}
	data := filepath.Join(dir, "dist", "providers", "data")
	var manifest struct{ GeneratedAt string }
	if err := readJSON(filepath.Join(data, ".manifest.json"), &manifest); err != nil {
		return err
	}
	models, err := read(data)
	if err != nil {
		return err
	}
	raw, err := json.Marshal(catalog.Snapshot{Source: pkg.Name + " " + pkg.Version, Date: manifest.GeneratedAt, Models: models})
	if err != nil {
		return err
	}
	var out bytes.Buffer
	zip, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return err
	}
	if _, err := zip.Write(raw); err != nil {
		return err
	}
	if err := zip.Close(); err != nil {
		return err
	}
	fmt.Printf("%d models, %d bytes\n", len(models), out.Len())
	return os.WriteFile(target, out.Bytes(), 0o644) //nolint:gosec // a file of the source tree
}

// read returns the supported models of every file of the package's data.
func read(dir string) ([]provider.Model, error) {
	files, err := filepath.Glob(filepath.Join(dir, "[a-z]*.json"))
	if err != nil {
		return nil, err
	}
	var models []provider.Model
	for _, file := range files {
		var byAPI map[string]map[string]struct {
			provider.Model
			Type string `json:"type"`
		}
		if err := readJSON(file, &byAPI); err != nil {
			return nil, err
		}
		for _, list := range byAPI {
			for _, m := range list {
				if m := m.Model; askable(m) && m.ID != "" {
					models = append(models, m)
				}
			}
		}
	}
	slices.SortFunc(models, func(a, b provider.Model) int {
		return cmp.Or(cmp.Compare(a.Provider, b.Provider), cmp.Compare(a.ID, b.ID))
	})
	return models, nil
}

// askable reports whether there is a client for the model, and its address is known or is the
// customer's own.
func askable(m provider.Model) bool {
	switch m.API {
	case provider.AnthropicMessages, provider.OpenAICompletions, provider.OpenAIResponses, provider.GoogleGenerativeAI, provider.BedrockConverse:
		return m.BaseURL != ""
	case provider.AzureResponses, provider.GoogleVertex:
		return true
	default:
		return false
	}
}

func readJSON(path string, v any) error {
	raw, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, v)
}
