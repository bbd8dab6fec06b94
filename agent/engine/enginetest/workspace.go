package enginetest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
)

// written finds the file that an extension of a test writes when it is loaded.
var written = regexp.MustCompile(`writeFileSync\("([^"]+)"`)

// loadWorkspace runs the extensions of a folder, as pi does only if it may: each writes the file of its first writeFileSync.
func loadWorkspace(cwd string) error {
	found, err := filepath.Glob(filepath.Join(cwd, ".pi", "extensions", "*.ts"))
	if err != nil {
		return err
	}
	for _, path := range found {
		source, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if names := written.FindSubmatch(source); names != nil {
			if err := os.WriteFile(string(names[1]), []byte("x"), 0o600); err != nil {
				return err
			}
		}
	}
	return nil
}

// workspaceDir is where the settings of a folder put session files, "" for no wish. pi heeds them whether or not it may run
// code of the folder.
func workspaceDir(cwd string) string {
	raw, err := os.ReadFile(filepath.Join(cwd, ".pi", "settings.json"))
	if err != nil {
		return ""
	}
	var settings struct{ SessionDir string }
	_ = json.Unmarshal(raw, &settings) // damaged ones have no wish
	return settings.SessionDir
}
