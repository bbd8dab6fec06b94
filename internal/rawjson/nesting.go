package rawjson

// nesting is the open brackets, a bit for each: nesting depth comes from a file, and up to
// sixty-four levels must not allocate.
type nesting struct {
	depth   int
	objects uint64   // the innermost levels, the last one lowest: 1 for an object
	outer   []uint64 // the levels beyond, 64 each
}

func (n *nesting) open(object bool) {
	if n.depth > 0 && n.depth%64 == 0 {
		n.outer = append(n.outer, n.objects)
	}
	n.depth++
	n.objects <<= 1
	if object {
		n.objects |= 1
	}
}

func (n *nesting) close() {
	n.depth--
	n.objects >>= 1
	if n.depth > 0 && n.depth%64 == 0 {
		n.objects = n.outer[len(n.outer)-1]
		n.outer = n.outer[:len(n.outer)-1]
	}
}

// inObject reports whether the innermost bracket is that of an object.
func (n *nesting) inObject() bool { return n.objects&1 != 0 }

// closer is the bracket that closes the innermost one.
func (n *nesting) closer() byte { return ']' + byte(n.objects&1)<<5 } // ']' and '}' are 32 apart in ASCII
