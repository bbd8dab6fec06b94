package session

// longMessages sums up the messages of a context that are on long lines.
type longMessages struct {
	words   int64 // bytes without images
	longest int64
	entry   string // the longest
}

// digestOfMessage returns the digest of an entry on a long line if it is a message, of which the state needs
// a few members only.
func (b *contextBuilder) digestOfMessage(i int) ([]byte, error) {
	if b.doc.tree.typ(i) != TypeMessage {
		return nil, nil
	}
	line, _, err := b.doc.digest(i)
	return line, err
}

// digestForOutline returns the digest of an entry on a long line, and counts it. The content of an answer
// decides in omp which messages are shown, so that it is needed whole.
func (b *contextBuilder) digestForOutline(i int) ([]byte, error) {
	if b.doc.dialect == Omp && b.doc.tree.role(i) == "assistant" {
		return nil, nil
	}
	line, words, err := b.doc.digest(i)
	if err != nil {
		return nil, err
	}
	if b.long.words += words; words > b.long.longest {
		b.long.longest, b.long.entry = words, b.doc.tree.id(i)
	}
	if !b.namesBlobs {
		b.namesBlobs, err = b.doc.longNamesBlobs(i)
	}
	return line, err
}
