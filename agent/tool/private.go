package tool

import (
	"os"
	"path/filepath"

	"github.com/xcsh-ls/xcsh-ls/session/fault"
)

// keyFile is the file with keys in a private directory.
const keyFile = "auth.json"

// mayShow fails for a file with keys, under whatever name it is reached: what a model reads
// goes to its service and is kept in the conversation.
func (o Options) mayShow(path string) error {
	if len(o.Private) == 0 {
		return nil
	}
	info, err := o.Fs.Stat(path)
	if err != nil {
		info = nil // not there, or not to be read anyway
	}
	for _, dir := range o.Private {
		file := filepath.Join(dir, keyFile)
		own, err := o.Fs.Stat(file)
		if filepath.Clean(path) == file || err == nil && info != nil && os.SameFile(info, own) {
			return fault.New(fault.Denied, "%s holds keys, which are not shown.", path).With("path", path)
		}
	}
	return nil
}
