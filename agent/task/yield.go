package task

import (
	"context"
	"encoding/json"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
)

// The names by which models of oh-my-pi and xcsh hand in a result. Here the last message is the result; the tools
// are not offered, but models that know them may use them.
const (
	yieldName  = "yield"
	submitName = "submit_result"
)

// Yielded is a result that a model handed in.
type Yielded struct {
	Text    string // for the main agent
	Details json.RawMessage
	Err     error // the model gave up
}

// Yields returns the tools that hand in a result to take.
func Yields(take func(Yielded)) []tool.Tool {
	run := func(_ context.Context, _ tool.Env, raw json.RawMessage) (tool.Result, error) {
		y, err := readYield(raw)
		if err != nil {
			return tool.Result{}, err
		}
		take(y)
		r := tool.TextResult("Result submitted.")
		r.Details = y.Details
		return r, nil
	}
	return []tool.Tool{
		{Tool: provider.Tool{Name: yieldName}, Run: run},
		{Tool: provider.Tool{Name: submitName}, Run: run},
	}
}

func readYield(raw json.RawMessage) (Yielded, error) {
	if inner := rawjson.Get(raw, "result"); rawjson.Kind(inner) == '{' {
		raw = inner
	}
	if why, ok := rawjson.GetString(raw, "error"); ok && why != "" {
		return Yielded{
			Details: new(rawjson.Object).String("status", "aborted").String("error", why).Bytes(),
			Err:     fault.New(fault.Stale, "The subagent gave up: %s", fault.OneLine(why)),
		}, nil
	}
	data := rawjson.Get(raw, "data")
	if data == nil {
		return Yielded{}, badArgument("data", "%s needs the parameter %q.", yieldName, "data")
	}
	return Yielded{
		Text:    string(data),
		Details: new(rawjson.Object).Raw("data", data).String("status", "success").Bytes(),
	}, nil
}
