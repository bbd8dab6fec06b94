package manifest

// Exports for tests.
var (
	ParseResult = parseResult
	Parse       = func(raw []byte) error {
		m, err := parse(raw)
		if err == nil {
			_, err = newParameters(m.Name, m.Parameters)
		}
		return err
	}
)

// MaxOutput is how much a tool may print.
const MaxOutput = maxOutput
