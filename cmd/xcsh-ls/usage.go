package main

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// usageError turns an error about the command line into a sentence that names the command's help.
func usageError(cmd *cobra.Command, err error) error {
	if invalid, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		advice := map[string]string{"bool": "true or false", "int": "a whole number"}[invalid.GetFlag().Value.Type()]
		return invalidValue(invalid.GetFlag().Name, invalid.GetValue(), advice)
	}
	text := err.Error()
	first, size := utf8.DecodeRuneInString(text)
	return fault.New(fault.InvalidArgument, "%c%s. Run '%s --help' for usage.", unicode.ToUpper(first), text[size:], cmd.CommandPath())
}

// takes returns a check that a command has between least and most arguments; names describes them.
func takes(least, most int, names string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return usageError(cmd, fmt.Errorf("missing argument: %s", names))
		case len(args) > most && most == 0:
			return usageError(cmd, fmt.Errorf("unexpected argument: %q", args[0]))
		case len(args) > most:
			return usageError(cmd, fmt.Errorf("too many arguments: at most %s", names))
		case most < math.MaxInt && slices.Contains(args, ""): // of a shell variable that is not set, not the default
			return usageError(cmd, errors.New("empty argument"))
		}
		return nil
	}
}

// exclusive makes flags exclude each other, also in completions.
func exclusive(c *cobra.Command, names ...string) {
	c.MarkFlagsMutuallyExclusive(names...)
	earlier := c.PreRunE
	c.PreRunE = func(cmd *cobra.Command, args []string) error {
		if earlier != nil {
			if err := earlier(cmd, args); err != nil {
				return err
			}
		}
		var given []string
		for _, name := range names {
			if cmd.Flags().Changed(name) {
				given = append(given, "--"+name)
			}
		}
		if len(given) > 1 {
			return usageError(cmd, fmt.Errorf("%s can't be used together", strings.Join(given, " and ")))
		}
		return nil
	}
}

// invalidValue is the error about a flag's value. advice names the valid values.
func invalidValue(flag string, value any, advice string) error {
	if text, ok := value.(string); ok {
		value = fmt.Sprintf("%q", text)
	}
	return fault.New(fault.InvalidArgument, "Invalid value %v for --%s: use %s.", value, flag, advice)
}

// plural returns a number with its noun.
func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
