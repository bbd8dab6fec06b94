package providertest

import "sync"

// script holds the replies per model. It is safe for concurrent use.
type script struct {
	mu      sync.Mutex
	replies map[string][]*planned // by model id
}

type planned struct {
	Reply
	used bool
}

func (s *script) add(id string, replies []Reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.replies == nil {
		s.replies = map[string][]*planned{}
	}
	for _, r := range replies {
		s.replies[id] = append(s.replies[id], &planned{Reply: r})
	}
}

// next takes the first reply that was not played yet and is for req, or plays the last
// one again that was for such a request.
func (s *script) next(id string, req Request) (Reply, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var again *planned
	for _, p := range s.replies[id] {
		if p.When != nil && !p.When(req) {
			continue
		}
		if !p.used {
			p.used = true
			return p.Reply, true
		}
		again = p
	}
	if again == nil {
		return Reply{}, false
	}
	return again.Reply, true
}

// models are the ids that have replies.
func (s *script) models() map[string]bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	ids := map[string]bool{}
	for id := range s.replies {
		ids[id] = true
	}
	return ids
}
