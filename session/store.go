package session

// Store finds, opens and makes session files.
type Store struct{}
