package session

import "github.com/xcsh-ls/xcsh-ls/session/rawjson"

// Usage is what a conversation has cost: tokens, and money in US dollars.
type Usage struct {
	Input       float64 `json:"input"`
	Output      float64 `json:"output"`
	CacheRead   float64 `json:"cacheRead"`
	CacheWrite  float64 `json:"cacheWrite"`
	TotalTokens float64 `json:"totalTokens"`
	Cost        float64 `json:"cost"`
}

// Usage sums over every answer in the file, on all branches, and over what tool
// results say their sub-agents used. Answers without usage count nothing.
func (d *Document) Usage() (Usage, error) {
	// Entries never change, so only those that came since the last call are read.
	for ; d.summed < d.Len(); d.summed++ {
		if role := d.tree.recs[d.summed].role; role != "assistant" && role != "toolResult" {
			continue
		}
		e, err := d.Entry(d.summed)
		if err != nil {
			return Usage{}, err
		}
		switch m := e.Message(); e.Role() {
		case "assistant":
			d.usage.add(rawjson.Get(m, "usage"))
		case "toolResult":
			if tool, _ := rawjson.GetString(m, "toolName"); tool == "task" {
				d.usage.add(rawjson.Get(m, "details", "usage"))
			}
		}
	}
	return d.usage, nil
}

func (u *Usage) add(v []byte) {
	for key, sum := range map[string]*float64{
		"input": &u.Input, "output": &u.Output, "cacheRead": &u.CacheRead, "cacheWrite": &u.CacheWrite,
	} {
		n := amount(rawjson.Get(v, key))
		*sum += n
		if rawjson.Get(v, "totalTokens") == nil {
			u.TotalTokens += n
		}
	}
	u.TotalTokens += amount(rawjson.Get(v, "totalTokens"))
	u.Cost += amount(rawjson.Get(v, "cost", "total"))
}

// maxAmount is far above any sum of tokens or money. Numbers come from a file, and a
// sum that is infinite could not be written as JSON.
const maxAmount = 1e15

// amount reads a number of tokens or dollars; what cannot be one counts nothing.
func amount(v []byte) float64 {
	n, ok := rawjson.Float(v)
	if !ok || n < -maxAmount || n > maxAmount {
		return 0
	}
	return n
}
