package session

// AppendModel records a change of model in the form that the file's program reads. role
// "" is the default one.
func (l *Log) AppendModel(provider, id, role string) (string, error) {
	l.mu.Lock()
	form := l.form()
	l.mu.Unlock()
	return l.Append(DraftModelChange(form, provider, id, role))
}

// Claim makes the session ours to write, as the first Append would. That another process
// writes to it is kind busy.
func (l *Log) Claim() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.writable()
}
