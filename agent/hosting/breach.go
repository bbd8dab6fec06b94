package hosting

import (
	"sync"

	"github.com/xcsh-ls/xcsh-ls/agent/approval"
)

// Breaches remembers which programs of a folder ran something without permission, and in which modes. Such a program is not
// started again in that mode. The zero value has none. It is safe for concurrent use.
type Breaches struct {
	mu   sync.Mutex
	seen map[breach]bool // guarded by mu
}

type breach struct {
	program string
	mode    approval.Mode
}

// add remembers a breach. In the mode yolo there is nothing to break.
func (b *Breaches) add(program string, mode approval.Mode) {
	if mode == approval.Yolo {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.seen == nil {
		b.seen = map[breach]bool{}
	}
	b.seen[breach{program, mode}] = true
}

func (b *Breaches) has(program string, mode approval.Mode) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.seen[breach{program, mode}]
}
