package setup

import "sync"

// LastGood has the last values of settings files that could be parsed. A file that cannot be, such as one that an
// editor is writing, keeps them. The zero value is empty; it is safe for concurrent use.
type LastGood struct {
	mu     sync.Mutex
	byPath map[string]map[string]any // guarded by mu
}

// maxKept bounds the files whose values are kept.
const maxKept = 200

// keep returns the values of a file that was parsed to top, or to err. In place of a file with an error it
// returns the last ones, and the error.
func (l *LastGood) keep(path string, top map[string]any, err error) (map[string]any, error) {
	if l == nil {
		return top, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil {
		return l.byPath[path], err
	}
	if l.byPath == nil || len(l.byPath) >= maxKept {
		l.byPath = map[string]map[string]any{}
	}
	l.byPath[path] = top
	return top, nil
}
