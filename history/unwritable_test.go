package history_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/xcsh-ls/xcsh-ls/history"
)

// addUnwritable is the part of a process without write permission: it adds a prompt nevertheless,
// and prints the warnings.
func addUnwritable(path, _ string) error {
	warned := make(chan string, 10)
	s := history.Open(history.Config{Path: path, Warn: func(text string) { warned <- text }})
	s.Prepare()
	s.Add(history.Prompt{Text: "said all the same"})
	if s.Close(context.Background()) == nil {
		return errors.New("it was written")
	}
	entries, err := s.Recent(context.Background(), 10, "")
	if len(entries) != 1 || err == nil {
		return fmt.Errorf("found %v, %w", entries, err)
	}
	fmt.Println(len(warned), <-warned)
	return nil
}
