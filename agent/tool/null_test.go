package tool_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/provider/strict"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
)

// A service that enforces schemas makes models write null for every parameter that they leave out.
func TestNullIsAParameterThatIsLeftOut(t *testing.T) {
	t.Parallel()
	for name, args := range map[string]string{
		"read": `{"path":"a","offset":null,"limit":null}`,
		"bash": `{"command":"true","timeout":null}`,
		"edit": `{"path":"a","edits":[{"oldText":"x","newText":"y","all":null}]}`,
		"grep": `{"pattern":"x","path":null,"glob":null,"ignoreCase":null,"literal":null,"context":null,"limit":null}`,
		"find": `{"pattern":"x","path":null,"limit":null}`,
		"ls":   `{"path":null,"limit":null}`,
	} {
		for _, one := range tool.All(tool.Options{}) {
			if one.Name != name {
				continue
			}
			checked, err := one.Check(json.RawMessage(args))
			require.NoError(t, err, name)
			require.NotContains(t, string(checked), "null")
		}
	}
}

// Every tool can be enforced, so that none loosens the others.
func TestEveryToolHasAStrictSchema(t *testing.T) {
	t.Parallel()
	for _, one := range tool.All(tool.Options{}) {
		_, ok := strict.Schema(one.Parameters)
		require.True(t, ok, one.Name)
	}
}
