package session

// ForkPart is [Store.ForkAt] for the session at path, whichever program wrote it: the path
// to one entry becomes a new session of cwd, which is opened. The source is never changed.
// A missing source is a NotFound error, an unreadable one a Damaged error.
func (s *Store) ForkPart(path, cwd, entryID string, at Position) (fork *Log, text string, err error) {
	doc, err := s.Load(path)
	if err != nil {
		return nil, "", Closing(err, doc)
	}
	fork, text, err = s.forkPart(doc, path, cwd, entryID, at)
	return fork, text, Closing(err, doc)
}

func (s *Store) forkPart(d *Document, path, cwd, entryID string, at Position) (fork *Log, text string, err error) {
	end, err := d.Index(entryID)
	if err != nil {
		return nil, "", err
	}
	if at == Before {
		if text, end, err = d.before(end); err != nil {
			return nil, "", err
		}
	}
	dir, err := s.DirFor(cwd)
	if err != nil {
		return nil, "", err
	}
	into := forkInto{dir: dir, cwd: cwd, parent: path, source: path, blobs: s.foreignBlobs(path, dir)}
	if into.path = d.forkPath(end); into.path == nil {
		return s.emptyFork(into), text, nil
	}
	fork, err = s.forkDocument(d, into)
	return fork, text, err
}
