// Package child runs a program that is controlled by lines on its standard input and output: it starts the program,
// passes lines in both directions, keeps the end of its standard error, and ends it together with everything that it
// started. It knows no protocol.
//
//	c, err := child.Start(ctx, child.Config{Name: "pi", Path: path, Args: args, Env: env, Dir: cwd, Log: log})
//	go func() {
//		for line := range c.Lines() { … }
//		<-c.Done()
//		… c.Exit(), c.Stderr() …
//	}()
//	err = c.Write(ctx, []byte(`{"id":"r1","type":"get_state"}`))
//	err = c.Close(ctx)
//
// The program is not trusted: a line has a maximum length, a program that does not read its input is ended, and one
// that writes more than its host reads waits. A program in one of these cases has ended with an error in
// [Exit.Err], whose message is for the user.
//
// A child has a session of its own, so that a signal of a terminal does not reach it, and is a family of
// internal/procgroup: its descendants end with it, also those that outlive it in sessions of their own. If this
// process is killed, the child reads the end of its input.
package child
