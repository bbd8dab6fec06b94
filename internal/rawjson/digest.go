package rawjson

const (
	// digestMembers is how many values of the length kept the members of an object in a digest may
	// take together.
	digestMembers = 16

	// digestCalls is how many tool calls of one line are counted.
	digestCalls = 1 << 16
)

// Digest is the part of a long value that a [Stream] keeps.
type Digest struct {
	// Env is what [ScanEnvelope] finds, but for values longer than those kept: of a usage, of a
	// message and of the name of a call it has the beginning, of details the usage alone.
	Env Envelope

	// Raw is the value itself if it is not longer than the values kept. Otherwise it is JSON of the
	// same form in which long members of the object, and of its message, are cut as by [Closed].
	Raw []byte

	// TooLong reports that a type, an id, a parent or a role is longer than the values kept.
	// Its member of Env is nil.
	TooLong bool

	// Images is the number of bytes that the images in the content of the message take.
	Images int64

	tooLong [4]bool // type, id, parent and role
}

const (
	longType = iota
	longID
	longParent
	longRole
)

// Digest reads one value, after optional white space. The status is that of [Scan]; Offset is
// then the end of the value, or the position of the offending byte.
func (s *Stream) Digest() (d Digest, st Status) {
	s.open, s.captures = nesting{}, s.captures[:0]
	if st := s.space(); st != Complete {
		return d, st
	}
	object := s.b[s.i] == '{'
	s.begin()
	if object {
		d.Env.Object = true
		st = s.line(&d)
	} else {
		st = s.value()
	}
	whole, over := s.kept()
	switch {
	case st != Complete:
	case !over:
		d.Raw = whole
		d.Env, _, _ = ScanEnvelope(whole)
		d.TooLong = false
	case !object:
		d.Raw = Closed(whole)
	default:
		d.TooLong = d.tooLong != [4]bool{}
	}
	return d, st
}

// line reads the object at the stream and makes its digest.
func (s *Stream) line(d *Digest) Status {
	o := digestObject{room: 2 * digestMembers * s.keep}
	st := s.members(func() Status {
		key, name := s.key, s.name
		if name == "message" && s.b[s.i] == '{' {
			message, st := s.message(d)
			d.Env.Message = message
			o.add(key, message)
			return st
		}
		value, over, st := s.beginning()
		switch name {
		case "type":
			d.Env.Type, d.tooLong[longType] = unlessOver(value, over)
		case "id":
			d.Env.ID, d.tooLong[longID] = unlessOver(value, over)
		case "parentId":
			d.Env.ParentID, d.tooLong[longParent] = unlessOver(value, over)
		case "message":
			d.forgetMessage()
			d.Env.Message = value
		}
		o.add(key, value)
		return st
	})
	d.Raw = o.end()
	return st
}

// message reads the message at the stream, which is an object.
func (s *Stream) message(d *Digest) ([]byte, Status) {
	d.forgetMessage()
	o := digestObject{room: digestMembers * s.keep}
	st := s.members(func() (st Status) {
		key := s.key
		var value []byte
		var over bool
		switch s.name {
		case "role":
			value, over, st = s.beginning()
			d.Env.Role, d.tooLong[longRole] = unlessOver(value, over)
		case "usage":
			value, _, st = s.beginning()
			d.Env.Usage = value
		case "toolName":
			value, over, st = s.beginning()
			d.Env.ToolName, _ = unlessOver(value, over)
		case "details":
			value, st = s.details(d)
		case "content":
			s.begin()
			st = s.content(d)
			value, _ = s.keptClosed()
		default:
			value, _, st = s.beginning()
		}
		o.add(key, value)
		return st
	})
	return o.end(), st
}

// forgetMessage removes the parts of an earlier message: the last one counts.
func (d *Digest) forgetMessage() {
	e := &d.Env
	e.Role, e.Usage, e.ToolName, e.Details, e.Calls = nil, nil, nil, nil, nil
	d.tooLong[longRole], d.Images = false, 0
}

// beginning reads a value and returns it; one that is longer than those kept is closed.
func (s *Stream) beginning() (value []byte, over bool, st Status) {
	s.begin()
	st = s.value()
	value, over = s.keptClosed()
	return value, over, st
}

func (s *Stream) keptClosed() (value []byte, over bool) {
	if value, over = s.kept(); over {
		value = Closed(value)
	}
	return value, over
}

// unlessOver returns the value unless it is longer than those kept.
func unlessOver(value []byte, over bool) (kept []byte, tooLong bool) {
	if over {
		return nil, true
	}
	return value, false
}

// details reads the details of a message, in which only the usage matters.
func (s *Stream) details(d *Digest) (value []byte, st Status) {
	if s.b[s.i] != '{' {
		value, _, st = s.beginning()
		d.Env.Details = value
		return value, st
	}
	var usage []byte
	s.begin()
	st = s.members(func() (st Status) {
		if s.name != "usage" {
			return s.value()
		}
		usage, _, st = s.beginning()
		return st
	})
	value, over := s.keptClosed()
	if d.Env.Details = value; over {
		d.Env.Details = new(Object).Raw("usage", usage).Bytes()
	}
	return value, st
}

// content reads the content of a message and picks the names of its tool calls.
func (s *Stream) content(d *Digest) Status {
	d.Env.Calls, d.Images = nil, 0
	if s.b[s.i] != '[' {
		return s.value()
	}
	room := digestMembers * s.keep
	for more, st := s.first(']'); ; more, st = s.following(']') {
		if !more {
			return st
		}
		if s.b[s.i] != '{' {
			st = s.value()
		} else {
			st = s.contentBlock(d, &room)
		}
		if st != Complete {
			return st
		}
	}
}

// contentBlock reads an object in a content. If it is a tool call, its name is kept as long as there
// is room.
func (s *Stream) contentBlock(d *Digest, room *int) Status {
	var typ, name []byte
	var data int64
	st := s.members(func() (st Status) {
		switch s.name {
		case "type":
			typ, _, st = s.beginning()
		case "name":
			name, _, st = s.beginning()
		case "data":
			from := s.Offset()
			st = s.value()
			data = s.Offset() - from
		default:
			st = s.value()
		}
		return st
	})
	calls := &d.Env.Calls
	if st == Complete && isToolCall(typ) && len(*calls) < digestCalls && len(name) <= *room {
		*room -= len(name)
		*calls = append(*calls, name)
	}
	if string(typ) == `"image"` {
		d.Images += data
	}
	return st
}

// members reads the object at the stream and calls value at the value of each member, which it must
// read. s.key and s.name are those of the member.
func (s *Stream) members(value func() Status) Status {
	for more, st := s.first('}'); ; more, st = s.following('}') {
		if !more {
			return st
		}
		if st = s.memberKey(); st == Complete {
			st = value()
		}
		if st != Complete {
			return st
		}
	}
}

// memberKey reads a key and moves to the value.
func (s *Stream) memberKey() Status {
	if s.b[s.i] != '"' {
		return Invalid
	}
	s.begin()
	st := s.string()
	key, over := s.kept()
	if st != Complete {
		return st
	}
	if s.key, s.name = key, ""; over {
		s.key = nil
	} else {
		s.name, _ = String(key)
	}
	if st := s.colon(); st != Complete {
		return st
	}
	return s.space()
}

// first moves from an opening bracket to what follows; more is false if that is the closing one.
func (s *Stream) first(closing byte) (more bool, st Status) {
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

// following moves from the end of an element or a member to the next one; more is false at the closing bracket.
func (s *Stream) following(closing byte) (more bool, st Status) {
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

// digestObject is an object that is written as long as there is room.
type digestObject struct {
	out  []byte
	room int
}

// add adds a member. A key that was too long is nil.
func (o *digestObject) add(key, value []byte) {
	if n := len(key) + len(value); key == nil || value == nil || n > o.room {
		return
	}
	o.room -= len(key) + len(value)
	o.out = append(o.out, ',')
	o.out = append(append(append(o.out, key...), ':'), value...)
}

func (o *digestObject) end() []byte {
	if len(o.out) == 0 {
		return []byte("{}")
	}
	o.out[0] = '{'
	return append(o.out, '}')
}
