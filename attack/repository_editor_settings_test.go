package attack

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// A cloned folder may contain .vscode/settings.json. VS Code applies a setting from it unless its scope
// is machine. With machine-overridable, a folder could choose the programs to run and the files from
// which keys are read.
func TestRepositorySettingsOfTheEditor(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join("..", "editors", "vscode", "package.json"))
	if err != nil {
		t.Fatal(err)
	}
	var manifest struct {
		Capabilities struct {
			Untrusted struct {
				Restricted []string `json:"restrictedConfigurations"`
			} `json:"untrustedWorkspaces"`
		} `json:"capabilities"`
		Contributes struct {
			Configuration struct {
				Properties map[string]struct {
					Scope string `json:"scope"`
				} `json:"properties"`
			} `json:"configuration"`
		} `json:"contributes"`
	}
	if err := json.Unmarshal(raw, &manifest); err != nil {
		t.Fatal(err)
	}
	restricted := map[string]bool{}
	for _, name := range manifest.Capabilities.Untrusted.Restricted {
		restricted[name] = true
	}
	decides := regexp.MustCompile(`(?i)path|program|dir$|roots|approval|sandbox|logLevel|redact|engine`)
	found := 0
	for name, setting := range manifest.Contributes.Configuration.Properties {
		if !decides.MatchString(name) {
			continue
		}
		found++
		if setting.Scope != "machine" {
			t.Errorf("%s has the scope %q: a folder can set it", name, setting.Scope)
		}
		if !restricted[name] {
			t.Errorf("%s counts in a folder that is not trusted", name)
		}
	}
	if found < 11 {
		t.Errorf("only %d settings that decide what runs were found", found)
	}
}
