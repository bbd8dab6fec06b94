package manifest

import "github.com/xcsh-ls/xcsh-ls/agent/tool/schema"

// Exports for tests.
var (
	ParseResult = parseResult
	Parse       = func(raw []byte) error {
		m, err := parse(raw)
		if err == nil {
			_, err = schema.New(m.Name, m.Parameters)
		}
		return err
	}
)

// MaxOutput is how much a tool may print.
const MaxOutput = maxOutput
