package rawjson

// Envelope is what an index needs to know of a session line: the raw values of a few
// members, nil where the line has none. They alias the line.
type Envelope struct {
	Object   bool // the value is an object
	Type     []byte
	ID       []byte
	ParentID []byte
	Message  []byte
	Role     []byte // of the message
}

// ScanEnvelope is [Scan] that also picks the envelope of an object, in the same pass.
// Of duplicate keys the last one counts.
func ScanEnvelope(b []byte) (env Envelope, n int, st Status) {
	s := scanner{b: b}
	s.stack = s.small[:0]
	if st := s.space(); st != Complete {
		return env, s.i, st
	}
	if b[s.i] != '{' {
		st = s.value()
		return env, s.i, st
	}
	env.Object = true
	st = s.members(func(key []byte) Status {
		switch {
		case keyIs(key, "message"):
			start := s.i
			st := s.message(&env.Role)
			env.Message = b[start:s.i]
			return st
		case keyIs(key, "type"):
			return s.capture(true, &env.Type)
		case keyIs(key, "id"):
			return s.capture(true, &env.ID)
		case keyIs(key, "parentId"):
			return s.capture(true, &env.ParentID)
		}
		return s.value()
	})
	return env, s.i, st
}

// message reads the value of the member called message and picks its role.
func (s *scanner) message(role *[]byte) Status {
	*role = nil
	if s.b[s.i] != '{' {
		return s.value()
	}
	return s.members(func(key []byte) Status { return s.capture(keyIs(key, "role"), role) })
}

// members reads the object at the scanner, calling member with each raw key when the
// scanner is at its value, which member must read.
func (s *scanner) members(member func(key []byte) Status) Status {
	s.i++
	for first := true; ; first = false {
		if st := s.space(); st != Complete {
			return st
		}
		if first && s.b[s.i] == '}' {
			s.i++
			return Complete
		}
		start := s.i
		if st := s.key(); st != Complete {
			return st
		}
		key := s.b[start:s.keyEnd]
		if st := s.space(); st != Complete {
			return st
		}
		if st := member(key); st != Complete {
			return st
		}
		if st := s.space(); st != Complete {
			return st
		}
		switch s.b[s.i] {
		case ',':
			s.i++
		case '}':
			s.i++
			return Complete
		default:
			return Invalid
		}
	}
}

// capture reads a value and keeps it if it is wanted.
func (s *scanner) capture(wanted bool, to *[]byte) Status {
	start := s.i
	st := s.value()
	if wanted && st == Complete {
		*to = s.b[start:s.i]
	}
	return st
}
