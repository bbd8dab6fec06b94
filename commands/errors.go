package commands

import (
	"errors"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// asFault returns the fault in an error's chain.
func asFault(err error) (*fault.Error, bool) { return errors.AsType[*fault.Error](err) }
