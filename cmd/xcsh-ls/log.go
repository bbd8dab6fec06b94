package main

import (
	"errors"
	"io/fs"

	"go.uber.org/zap"
	"go.uber.org/zap/buffer"
	"go.uber.org/zap/zapcore"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session/visible"
)

// openLog returns a logger that writes to standard error or to a file, never to standard output, which
// is reserved for the protocol.
func openLog(f flags) (*zap.Logger, error) {
	level, err := zapcore.ParseLevel(f.logLevel)
	if err != nil {
		return nil, invalidValue("log-level", f.logLevel, "debug, info, warn or error")
	}
	c := zap.NewProductionConfig()
	c.Level = zap.NewAtomicLevelAt(level)
	c.Sampling = nil
	c.DisableStacktrace = true
	c.Encoding = visibleConsole
	c.EncoderConfig.EncodeTime = zapcore.ISO8601TimeEncoder
	if f.logFile != "" {
		c.OutputPaths = []string{f.logFile}
	}
	log, err := c.Build()
	if err != nil && f.logFile != "" {
		reason := err
		if unopened, ok := errors.AsType[*fs.PathError](err); ok {
			reason = unopened.Err
		}
		return nil, fault.New(fault.IO, "The log can't be written to %s: %w. Pass another file with --log-file.", f.logFile, reason)
	}
	return log, err
}

// visibleConsole is the encoding of the log: zap's console encoding without terminal control sequences.
const visibleConsole = "visible-console"

var _ = zap.RegisterEncoder(visibleConsole, func(c zapcore.EncoderConfig) (zapcore.Encoder, error) {
	return visibleEncoder{zapcore.NewConsoleEncoder(c)}, nil
})

// visibleEncoder escapes invisible characters. Messages are one line; fields are JSON, in which zap
// escapes only some of them.
type visibleEncoder struct{ zapcore.Encoder }

func (e visibleEncoder) Clone() zapcore.Encoder { return visibleEncoder{e.Encoder.Clone()} }

func (e visibleEncoder) EncodeEntry(entry zapcore.Entry, fields []zapcore.Field) (*buffer.Buffer, error) {
	entry.Message, entry.LoggerName = visible.Line(entry.Message), visible.Line(entry.LoggerName)
	line, err := e.Encoder.EncodeEntry(entry, fields)
	if err != nil {
		return nil, err
	}
	safe := visible.JSON(line.Bytes())
	if string(safe) != line.String() {
		line.Reset()
		line.AppendBytes(safe)
	}
	return line, nil
}
