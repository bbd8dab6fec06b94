package lsp

import (
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"go.lsp.dev/protocol"
	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/lsp/conn"
)

// maxShown is the number of transcripts that are kept up to date, the most recently requested ones. A
// client does not report when it closes one.
const maxShown = 32

// shownTranscripts are the transcripts that the client has requested, to notify it when they are
// outdated.
type shownTranscripts struct {
	wake  chan struct{} // sessions may have changed
	moved atomic.Bool   // changes of files may have; see changesMoved

	mu    sync.Mutex
	shown []shownTranscript // in the order of the requests; guarded by mu
}

type shownTranscript struct {
	uri, path string
	file      fileState // before the session was read
}

// fileState identifies the state of a file. It is zero if the file does not exist.
type fileState struct {
	size    int64
	changed time.Time
}

func stateOf(info os.FileInfo, err error) fileState {
	if err != nil {
		return fileState{}
	}
	return fileState{info.Size(), info.ModTime()}
}

func newShownTranscripts() *shownTranscripts {
	return &shownTranscripts{wake: make(chan struct{}, 1)}
}

// add adds a transcript, in place of an earlier one with the same URI.
func (st *shownTranscripts) add(t shownTranscript) {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.shown = slices.DeleteFunc(st.shown, func(o shownTranscript) bool { return o.uri == t.uri })
	if len(st.shown) == maxShown {
		st.shown = slices.Delete(st.shown, 0, 1)
	}
	st.shown = append(st.shown, t)
}

// outdated returns the URIs of the transcripts whose file has changed, each once per change.
func (st *shownTranscripts) outdated(stat func(path string) (os.FileInfo, error)) (uris []string) {
	st.mu.Lock()
	defer st.mu.Unlock()
	moved := st.moved.Swap(false)
	for i := range st.shown {
		t := &st.shown[i]
		if now := stateOf(stat(t.path)); now != t.file || moved && isChangesURI(t.uri) {
			t.file = now
			uris = append(uris, t.uri)
		}
	}
	return uris
}

// changesMoved starts a check that treats all changes documents as outdated, because they do not only depend on the session file. It
// does not block.
func (st *shownTranscripts) changesMoved() {
	st.moved.Store(true)
	st.mayHaveChanged()
}

// mayHaveChanged starts a check of the transcripts. It does not block.
func (st *shownTranscripts) mayHaveChanged() {
	select {
	case st.wake <- struct{}{}:
	default:
	}
}

// refreshTranscripts notifies the client of outdated transcripts until the server stops.
func (s *server) refreshTranscripts() {
	defer s.recoverPanic("refreshing transcripts")
	for {
		select {
		case <-s.work.Done():
			return
		case <-s.transcripts.wake:
		}
		for _, uri := range s.transcripts.outdated(s.readOnlyEnv().Fs.Stat) {
			s.refresh(uri)
		}
	}
}

func (s *server) refresh(uri string) {
	params, err := conn.EncodeJSON(map[string]string{"uri": uri})
	if err == nil {
		err = s.ask(s.work, protocol.MethodWorkspaceTextDocumentContentRefresh, params, nil)
	}
	if err != nil {
		s.log.Debug("a transcript was not refreshed", zap.String("uri", uri), zap.Error(err))
	}
}
