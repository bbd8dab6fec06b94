// Package section writes the generated parts of documents.
package section

import (
	"fmt"
	"os"
	"strings"
)

// Replace replaces the text between the lines begin and end of a file. The lines stay.
func Replace(path, begin, end, text string) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	before, rest, found := strings.Cut(string(content), begin)
	_, after, ends := strings.Cut(rest, end)
	if !found || !ends {
		return fmt.Errorf("%s has no generated part: %q to %q", path, begin, end)
	}
	return os.WriteFile(path, []byte(before+begin+text+end+after), 0o644) //nolint:gosec // a document of the repository
}
