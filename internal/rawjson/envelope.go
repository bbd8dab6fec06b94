package rawjson

import "bytes"

// Envelope holds the parts of a session line that an index needs: the raw values of a few members,
// nil if the line has none. They alias the line.
type Envelope struct {
	Object   bool // the value is an object
	Type     []byte
	ID       []byte
	ParentID []byte
	Message  []byte
	Role     []byte // of the message, like all below
	Usage    []byte
	ToolName []byte
	Details  []byte
	Calls    [][]byte // of the tool calls in its content: their names, nil for one without
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
			st = s.message(env)
			env.Message = s.b[start:s.i]
		default:
			st = s.value()
		}
		if st != Complete {
			return st
		}
	}
}

// message reads the value of the member called message and picks its parts.
func (s *scanner) message(env *Envelope) Status {
	env.Role, env.Usage, env.ToolName, env.Details, env.Calls = nil, nil, nil, nil, nil
	if s.b[s.i] != '{' {
		return s.value()
	}
	for more, st := s.firstMember(); ; more, st = s.nextMember() {
		if !more {
			return st
		}
		switch string(s.keyName()) {
		case "role":
			st = s.capture(&env.Role)
		case "usage":
			st = s.capture(&env.Usage)
		case "toolName":
			st = s.capture(&env.ToolName)
		case "details":
			st = s.capture(&env.Details)
		case "content":
			st = s.content(&env.Calls)
		default:
			st = s.value()
		}
		if st != Complete {
			return st
		}
	}
}

// content reads the content of a message and picks the names of its tool calls.
func (s *scanner) content(calls *[][]byte) Status {
	*calls = nil
	if s.b[s.i] != '[' {
		return s.value()
	}
	for more, st := s.firstElement(); ; more, st = s.nextElement() {
		if !more {
			return st
		}
		if st := s.contentBlock(calls); st != Complete {
			return st
		}
	}
}

// contentBlock reads an element of a content. If it is a tool call, its name is added to calls.
func (s *scanner) contentBlock(calls *[][]byte) Status {
	if s.b[s.i] != '{' {
		return s.value()
	}
	var typ, name []byte
	for more, st := s.firstMember(); ; more, st = s.nextMember() {
		if !more {
			if st == Complete && isToolCall(typ) {
				*calls = append(*calls, name)
			}
			return st
		}
		switch string(s.keyName()) {
		case "type":
			st = s.capture(&typ)
		case "name":
			st = s.capture(&name)
		default:
			st = s.value()
		}
		if st != Complete {
			return st
		}
	}
}

// isToolCall reports whether a raw value is the string "toolCall", which may have escapes.
func isToolCall(typ []byte) bool {
	if string(typ) == `"toolCall"` {
		return true
	}
	if bytes.IndexByte(typ, '\\') < 0 {
		return false
	}
	text, _ := String(typ)
	return text == "toolCall"
}

// firstElement moves from the opening bracket of an array to its first element. more is false at the end
// of the array and if it cannot be read.
func (s *scanner) firstElement() (more bool, st Status) { return s.first(']') }

// nextElement moves from the end of one element to the next.
func (s *scanner) nextElement() (more bool, st Status) { return s.next(']') }

// firstMember moves from the opening bracket of an object to the value of its first member. more is
// false at the end of the object and if it cannot be read.
func (s *scanner) firstMember() (more bool, st Status) {
	if more, st = s.first('}'); !more {
		return more, st
	}
	return s.memberKey()
}

// nextMember moves from the end of one member's value to the value of the next.
func (s *scanner) nextMember() (more bool, st Status) {
	if more, st = s.next('}'); !more {
		return more, st
	}
	return s.memberKey()
}

// first moves from an opening bracket to what follows; more is false if that is the closing one.
func (s *scanner) first(closing byte) (more bool, st Status) {
	s.i++
	if st := s.space(); st != Complete {
		return false, st
	}
	if s.b[s.i] == closing {
		s.i++
		return false, Complete
	}
	return true, Complete
}

// next moves from the end of an element or a member to the next one; more is false at the closing bracket.
func (s *scanner) next(closing byte) (more bool, st Status) {
	if st := s.space(); st != Complete {
		return false, st
	}
	switch s.b[s.i] {
	case ',':
		s.i++
		st := s.space()
		return st == Complete, st
	case closing:
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
