package publish

import (
	"bytes"
	"context"
	"encoding/hex"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/team"
)

// images are the images of a session that the store has.
type images struct {
	sid  team.SID
	sent map[team.Sum]bool
}

// sendImages stores the images that lines name, as they leave, before the lines are sent. An image that is missing or damaged
// here is left out: the lines do not wait for it.
func (s *sending) sendImages(ctx context.Context, lines []byte) error {
	if s.c.Image == nil {
		return nil
	}
	if s.images.sid != s.bound.sid {
		s.images = images{s.bound.sid, map[team.Sum]bool{}}
	}
	var named []team.Sum
	for _, h := range namedImages(lines) {
		if !s.images.sent[h] {
			named = append(named, h)
		}
	}
	if len(named) == 0 {
		return nil
	}
	project, err := s.projectNumber(ctx)
	if err != nil {
		return err
	}
	lacking, err := s.store.Lacks(ctx, project, s.bound.sid, named)
	if err != nil {
		return err
	}
	for _, h := range lacking {
		if err := s.sendImage(ctx, project, h); err != nil {
			return err
		}
	}
	for _, h := range named {
		s.images.sent[h] = true
	}
	return nil
}

// sendImage stores an image.
func (s *sending) sendImage(ctx context.Context, project int, h team.Sum) error {
	b, err := s.c.Image(h)
	switch fault.KindOf(err) {
	case "":
	case fault.NotFound, fault.Damaged, fault.TooLarge:
		return nil
	default:
		return err
	}
	err = s.store.PutBlob(ctx, project, s.bound.sid, b)
	if fault.Is(err, fault.Denied) {
		return nil // the append is answered Gone
	}
	s.broke(err)
	return err
}

// namedImages returns the images that lines name, each once. A reference within another text has escaped quotes, and is none.
func namedImages(lines []byte) (named []team.Sum) {
	const begin = `"` + session.BlobPrefix
	seen := map[team.Sum]bool{}
	for {
		at := bytes.Index(lines, []byte(begin))
		if at < 0 {
			return named
		}
		lines = lines[at+len(begin):]
		var h team.Sum
		const digits = 2 * len(h)
		if len(lines) <= digits || lines[digits] != '"' || bytes.ContainsAny(lines[:digits], "ABCDEF") {
			continue
		}
		if _, err := hex.Decode(h[:], lines[:digits]); err == nil && !seen[h] {
			seen[h] = true
			named = append(named, h)
		}
	}
}
