package tool

import (
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// mayShow fails for a file or directory with credentials, under any name: the result of a read is
// sent to the model's service and is kept in the conversation.
func (o Options) mayShow(path string) error {
	if !o.Private.Denies(o.Fs, path) {
		return nil
	}
	return denied(path)
}

// mayUse is mayShow for a file that was read as path: the path may have led elsewhere before.
func (o Options) mayUse(path string, f File) error {
	if f.Info == nil || o.Private == nil || !o.Private.Resolve(o.Fs).DeniesFile(path, f.Info) {
		return nil
	}
	return denied(path)
}

func denied(path string) error {
	return fault.New(fault.Denied, "%s may contain keys or passwords, so tools do not read or change it. Ask the user to paste the parts you need.", path).
		With("path", path)
}
