//go:build !unix

package present_test

import "errors"

func mkfifo(string) error { return errors.ErrUnsupported }
