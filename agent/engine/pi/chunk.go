package pi

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"slices"

	"go.uber.org/zap"
)

// The limits of a line in pieces. A whole one may be as long as any line.
const (
	maxChunked = 64 << 20 // bytes of a line
	maxChunks  = 64 << 10 // pieces
)

// chunks joins the pieces of a long line, which omp sends as one record each: rpc_chunk {chunkId, index, count,
// byteLength, data}, in order, with nothing between them. Only the pieces that have arrived are held. Only the reader uses it.
type chunks struct {
	agreed bool // omp sends pieces

	id          string // of the line; "" if none has begun
	next, count int
	size        int
	joined      []byte
}

var (
	errChunkTooLong = errors.New("a line in pieces is too long")
	errChunk        = errors.New("a piece of a line does not fit")
)

// add adds a piece. It returns the line with its last piece, otherwise nil. After an error the line is given up.
func (c *chunks) add(r *record) (line []byte, err error) {
	id, index, count, size := r.string(fChunkID), integer(r.number(fIndex)), integer(r.number(fCount)), integer(r.number(fByteLength))
	if size > maxChunked || r.number(fByteLength) > maxChunked {
		c.drop()
		return nil, errChunkTooLong
	}
	first := c.id == "" && index == 0
	switch {
	case id == "" || len(id) > maxID || count < 1 || count > maxChunks || size < 1,
		!first && (id != c.id || index != c.next || count != c.count || size != c.size):
		c.drop()
		return nil, errChunk
	case first:
		c.id, c.count, c.size = id, count, size
	}
	text := r.string(fData)
	room := c.size - len(c.joined)
	if text == "" || base64.StdEncoding.DecodedLen(len(text)) > room+2 {
		c.drop()
		return nil, errChunk
	}
	joined, err := base64.StdEncoding.Strict().AppendDecode(c.joined, []byte(text))
	if err != nil || len(joined) > c.size {
		c.drop()
		return nil, errChunk
	}
	c.joined = joined
	if c.next++; c.next < c.count {
		return nil, nil
	}
	defer c.drop()
	if len(c.joined) != c.size {
		return nil, errChunk
	}
	return c.joined, nil
}

// drop gives up a line that is not complete. It reports whether there was one.
func (c *chunks) drop() (begun bool) {
	begun = c.id != ""
	*c = chunks{agreed: c.agreed}
	return begun
}

// chunk handles a piece of a line. ok is false unless it completed a record. It is called by the reader.
func (e *Engine) chunk(piece *record) (whole record, ok bool) {
	line, err := e.chunks.add(piece)
	switch {
	case errors.Is(err, errChunkTooLong):
		e.failRun(e.fault("%s sent more than can be read at once.", e.program.Name))
		return record{}, false
	case err != nil:
		e.garbled(err.Error())
		return record{}, false
	case line == nil:
		return record{}, false
	}
	if whole, ok = parse(line); ok && whole.typ != "rpc_chunk" {
		return whole, true
	}
	e.garbled("a line in pieces is not a record")
	return record{}, false
}

// interrupted handles a record that arrived between the pieces of a line.
func (e *Engine) interrupted() {
	if e.chunks.drop() {
		e.garbled("the pieces of a line were interrupted")
	}
}

// garbled logs a line in pieces that cannot be read. Too many of them end the engine.
func (e *Engine) garbled(why string) {
	e.log.Warn("a line in pieces is given up", zap.String("engine", e.program.Name), zap.String("why", why))
	if e.garbledLines++; e.garbledLines == maxGarbage {
		e.failRun(e.fault("%s sends something else than it should: %d lines in pieces could not be read.", e.program.Name, e.garbledLines))
	}
}

// greeting handles omp's first line. It lists the versions of the protocol that omp speaks; the second one has long lines
// in pieces, where the first one cuts their contents. It is called by the reader.
func (e *Engine) greeting(r *record) {
	if e.chunks.agreed || !slices.ContainsFunc(r.elements(fVersions), isTwo) {
		return
	}
	e.chunks.agreed = true
	e.task(func() {
		_, err := e.call(e.ctx, "negotiate_protocol", object{"protocolVersion": 2}, startLimit)
		if err != nil {
			e.log.Info("long lines will be cut", zap.String("engine", e.program.Name), zap.Error(err))
		}
	})
}

func isTwo(v json.RawMessage) bool { return string(v) == "2" }
