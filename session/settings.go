package session

// AppendModel records a model change in the form that the file's program reads. An empty
// role is the default one.
func (l *Log) AppendModel(provider, id, role string) (string, error) {
	l.mu.Lock()
	form := l.form()
	l.mu.Unlock()
	return l.Append(DraftModelChange(form, provider, id, role))
}

// Claim takes the session's write lock, as the first Append would. It returns a Busy error
// if another process writes to the session.
func (l *Log) Claim() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.writable()
}
