package agent

import (
	"context"
	"os"

	"github.com/spf13/afero"
	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/agent/change"
	"github.com/xcsh-ls/xcsh-ls/agent/change/look"
)

// lookAtHead returns the commit and the branch of HEAD in a folder. atHead returns the committed content of a file that the session
// changed; it runs git once, when first called. Without git all results are empty.
func (m *Manager) lookAtHead(ctx context.Context, folder string, book *change.Book) (head, branch string, atHead func(string) ([]byte, bool)) {
	none := func(string) ([]byte, bool) { return nil, false }
	if _, disk := m.disk().(*afero.OsFs); !disk || len(book.Records) == 0 {
		return "", "", none
	}
	o := look.Options{Folder: folder, Fs: m.disk(), Temp: m.cfg.Changes.Temp, Env: os.Environ(), Log: m.log}
	if head, branch = look.Head(ctx, o, folder); head == "" {
		return head, branch, none
	}
	var files map[string][]byte
	var err error
	asked := false
	return head, branch, func(abs string) ([]byte, bool) {
		if !asked {
			asked = true
			if files, err = look.AtHead(ctx, o, folder, book.AllPaths(nil)); err != nil {
				m.log.Debug("the files at HEAD can't be read", zap.String("path", folder), zap.Error(err))
			}
		}
		return files[abs], err == nil
	}
}
