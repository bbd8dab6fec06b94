package composer

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/session/visible"
)

// maxListed is the number of names of a folder that are sent. A model can list more with its tools.
const maxListed = 500

// List returns the names in a folder as lines, folders with a slash. The contents of the files are not read.
func List(fsys afero.Fs, dir string) (string, error) {
	d, err := fsys.Open(dir)
	if err != nil {
		return "", err
	}
	defer d.Close()
	entries, err := d.Readdir(-1)
	if err != nil {
		return "", err
	}
	slices.SortFunc(entries, func(a, b fs.FileInfo) int { return strings.Compare(a.Name(), b.Name()) })
	var names strings.Builder
	for i, e := range entries {
		if i == maxListed {
			fmt.Fprintf(&names, "… and %d more\n", len(entries)-maxListed)
			break
		}
		names.WriteString(visible.Line(e.Name()))
		if e.IsDir() {
			names.WriteByte('/')
		}
		names.WriteByte('\n')
	}
	return names.String(), nil
}
