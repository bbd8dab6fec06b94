package soak

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/team"
	"github.com/xcsh-ls/xcsh-ls/team/consent"
	"github.com/xcsh-ls/xcsh-ls/team/identity"
	"github.com/xcsh-ls/xcsh-ls/team/pg"
	"github.com/xcsh-ls/xcsh-ls/team/publish"
	"github.com/xcsh-ls/xcsh-ls/team/shipping"
)

// sharedKey is the key of the project whose sessions are sent.
const sharedKey = "name:soak"

// pusher is the store and the device of a child that sends sessions.
type pusher struct {
	Conn   string
	Device team.DeviceID
}

// push sends the sessions of a directory as they grow, until it is killed or its standard input ends, and then the rest. It acknowledges
// each connection.
func push(dir, name string) error {
	var p pusher
	if err := json.Unmarshal([]byte(name), &p); err != nil {
		return err
	}
	store, err := pg.Open(pg.Config{Conn: p.Conn})
	if err != nil {
		return err
	}
	sender := p.publisher(dir, store)
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { sender.Run(ctx) })
	over := make(chan struct{})
	go func() {
		_, _ = bufio.NewReader(os.Stdin).ReadByte() // its end is the message
		close(over)
	}()
	for ended := false; !ended; {
		if err := touchAll(sender, dir); err != nil {
			stop()
			return err
		}
		select {
		case <-over:
			ended = true
		case <-time.After(20 * time.Millisecond):
		}
	}
	stop()
	running.Wait()
	if err := touchAll(sender, dir); err != nil {
		return err
	}
	last, end := context.WithTimeout(context.Background(), 5*time.Minute)
	defer end()
	if left := sender.Flush(last); left.Sessions > 0 {
		return left.Err
	}
	return store.Close()
}

// touchAll reports all files as changed: this child does not watch them.
func touchAll(sender *publish.Publisher, dir string) error {
	files, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	for _, file := range files {
		sender.TurnEnded(file)
	}
	return err
}

// publisher returns the publisher of a process. The user shares everything.
func (p pusher) publisher(dir string, store team.Store) *publish.Publisher {
	var mu sync.Mutex
	var hello team.Hello
	connected := false
	fs := afero.NewOsFs()
	return publish.New(publish.Config{
		Store: func() (team.Store, int, error) {
			mu.Lock()
			defer mu.Unlock()
			if !connected {
				var err error
				if hello, err = store.Hello(context.Background(), team.Device{ID: p.Device, Label: "soak"}); err != nil {
					return nil, 0, err
				}
				connected = true
				acknowledge("connected")
			}
			return store, hello.User, nil
		},
		Fs: fs, States: shipping.States{Fs: fs, Dir: filepath.Join(dir, "state")}, Clock: publish.SystemClock{},
		Consent: func() (consent.Decisions, error) {
			return consent.Decisions{Projects: map[string]consent.Project{sharedKey: {Team: "core", Share: consent.All, Visible: consent.Team}}}, nil
		},
		Project: func(string, consent.Decisions) (identity.Project, error) {
			return identity.Project{Key: sharedKey}, nil
		},
	})
}
