package history_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/xcsh-ls/xcsh-ls/agent/history"
)

// addUnwritable is the part of a process that may not write: it says something all the same,
// and prints what it was told.
func addUnwritable(path, _ string) error {
	told := make(chan string, 10)
	s := history.Open(history.Config{Path: path, Warn: func(text string) { told <- text }})
	s.Prepare()
	s.Add(history.Prompt{Text: "said all the same"})
	if s.Close(context.Background()) == nil {
		return errors.New("it was written")
	}
	entries, err := s.Recent(context.Background(), 10, "")
	if len(entries) != 1 || err == nil {
		return fmt.Errorf("found %v, %w", entries, err)
	}
	fmt.Println(len(told), <-told)
	return nil
}
