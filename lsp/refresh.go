package lsp

import (
	"context"
	"os"
	"slices"
	"sync"
	"time"

	"go.lsp.dev/protocol"
	"go.uber.org/zap"
)

// maxShown is how many transcripts are looked after, the ones that were asked for last: a
// client does not say when it closes one.
const maxShown = 32

// refreshTime is how long a client may take to accept that a transcript is out of date.
const refreshTime = 5 * time.Second

// shownTranscripts are the transcripts that the client was given, to tell it which of them
// no longer say all of their session.
type shownTranscripts struct {
	wake chan struct{} // sessions may have changed

	mu    sync.Mutex
	shown []shownTranscript // by when they were asked for; guarded by mu
}

type shownTranscript struct {
	uri, path string
	file      fileState // before its session was read
}

// fileState tells one state of a file from another; zero while there is no file.
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

// add remembers that t is shown.
func (st *shownTranscripts) add(t shownTranscript) {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.shown = slices.DeleteFunc(st.shown, func(o shownTranscript) bool { return o.uri == t.uri })
	if len(st.shown) == maxShown {
		st.shown = slices.Delete(st.shown, 0, 1)
	}
	st.shown = append(st.shown, t)
}

// outdated returns the URIs of the transcripts whose file is not as it was, each once for
// every state the file is found in.
func (st *shownTranscripts) outdated(stat func(path string) (os.FileInfo, error)) (uris []string) {
	st.mu.Lock()
	defer st.mu.Unlock()
	for i := range st.shown {
		t := &st.shown[i]
		if now := stateOf(stat(t.path)); now != t.file {
			t.file = now
			uris = append(uris, t.uri)
		}
	}
	return uris
}

// mayHaveChanged has the transcripts looked at. It does not block.
func (st *shownTranscripts) mayHaveChanged() {
	select {
	case st.wake <- struct{}{}:
	default:
	}
}

// refreshTranscripts tells the client of transcripts that are out of date, until the server
// stops.
func (s *server) refreshTranscripts() {
	defer s.recoverPanic("refreshing transcripts")
	for {
		select {
		case <-s.work.Done():
			return
		case <-s.transcripts.wake:
		}
		for _, uri := range s.transcripts.outdated(s.lookEnv().Fs.Stat) {
			s.refresh(uri)
		}
	}
}

func (s *server) refresh(uri string) {
	ctx, cancel := context.WithTimeout(s.work, refreshTime)
	defer cancel()
	params, err := encodeJSON(map[string]string{"uri": uri})
	if err == nil {
		err = s.ask(ctx, protocol.MethodWorkspaceTextDocumentContentRefresh, params, nil)
	}
	if err != nil {
		s.log.Debug("a transcript was not refreshed", zap.String("uri", uri), zap.Error(err))
	}
}
