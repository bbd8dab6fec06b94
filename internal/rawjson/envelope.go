package rawjson

// Envelope holds the parts of a session line that an index needs: the raw values of a few members,
// nil if the line has none. They alias the line.
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
	s := scanner{b: b, block: noBlock}
	if st := s.space(); st != Complete {
		return env, s.i, st
	}
	if b[s.i] != '{' {
		st = s.value()
		return env, s.i, st
	}
	env.Object = true
	st = s.envelope(&env)
	return env, s.i, st
}

// envelope reads the object at the scanner.
func (s *scanner) envelope(env *Envelope) Status {
	for more, st := s.firstMember(); ; more, st = s.nextMember() {
		if !more {
			return st
		}
		start := s.i
		switch name := s.keyName(); string(name) {
		case "type":
			st = s.capture(&env.Type)
		case "id":
			st = s.capture(&env.ID)
		case "parentId":
			st = s.capture(&env.ParentID)
		case "message":
			st = s.message(&env.Role)
			env.Message = s.b[start:s.i]
		default:
			st = s.value()
		}
		if st != Complete {
			return st
		}
	}
}

// message reads the value of the member called message and picks its role.
func (s *scanner) message(role *[]byte) Status {
	*role = nil
	if s.b[s.i] != '{' {
		return s.value()
	}
	for more, st := s.firstMember(); ; more, st = s.nextMember() {
		if !more {
			return st
		}
		if string(s.keyName()) == "role" {
			st = s.capture(role)
		} else {
			st = s.value()
		}
		if st != Complete {
			return st
		}
	}
}

// firstMember moves from the opening bracket of an object to the value of its first member. more is
// false at the end of the object and if it cannot be read.
func (s *scanner) firstMember() (more bool, st Status) {
	s.i++
	if st := s.space(); st != Complete {
		return false, st
	}
	if s.b[s.i] == '}' {
		s.i++
		return false, Complete
	}
	return s.memberKey()
}

// nextMember moves from the end of one member's value to the value of the next.
func (s *scanner) nextMember() (more bool, st Status) {
	if st := s.space(); st != Complete {
		return false, st
	}
	switch s.b[s.i] {
	case ',':
		s.i++
		if st := s.space(); st != Complete {
			return false, st
		}
		return s.memberKey()
	case '}':
		s.i++
		return false, Complete
	default:
		return false, Invalid
	}
}

func (s *scanner) memberKey() (more bool, st Status) {
	s.keyStart = s.i
	if st := s.key(); st != Complete {
		return false, st
	}
	st = s.space()
	return st == Complete, st
}

// keyName is the name of the member whose value the scanner is at.
func (s *scanner) keyName() []byte {
	name := s.b[s.keyStart+1 : s.keyEnd-1]
	if s.escaped {
		return unescape(name)
	}
	return name
}

// capture reads a value and keeps it.
func (s *scanner) capture(to *[]byte) Status {
	start := s.i
	st := s.value()
	if st == Complete {
		*to = s.b[start:s.i]
	}
	return st
}
