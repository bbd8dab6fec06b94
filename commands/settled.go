package commands

import "context"

// settled waits until all that is known of the folder's live session is certain. It fails only if ctx ends.
func settled(ctx context.Context, env *Env, args any) error {
	in, ok := args.(inFolder)
	if !ok || env.Sessions == nil {
		return nil
	}
	var folders []string
	switch f := in.folder(); {
	case f.Cwd != "":
		if cwd, err := directory(f.Cwd, "cwd"); err == nil {
			folders = []string{cwd}
		}
	case env.Folders != nil:
		folders = env.Folders() // the user may still have to choose one
	}
	for _, cwd := range folders {
		if live := env.Sessions.Live(cwd); live != nil {
			if err := live.Settled(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}
