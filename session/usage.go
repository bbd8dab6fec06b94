package session

import "github.com/xcsh-ls/xcsh-ls/internal/rawjson"

// Usage is the cost of a conversation: tokens, and money in US dollars.
type Usage struct {
	Input       float64 `json:"input"`
	Output      float64 `json:"output"`
	CacheRead   float64 `json:"cacheRead"`
	CacheWrite  float64 `json:"cacheWrite"`
	TotalTokens float64 `json:"totalTokens"`
	Cost        float64 `json:"cost"`
}

// usageNames are the members of a message that record its cost.
var usageNames = []string{"usage", "toolName", "details"}

// Usage sums the usage of every answer in the file, on all branches, and that of sub-agents
// as recorded in tool results. Answers without usage count as zero.
func (d *Document) Usage() (Usage, error) {
	// Entries never change, so only those that came since the last call are read.
	var fresh []int
	for i := d.summed; i < d.Len(); i++ {
		if role := d.tree.role(i); role == "assistant" || role == "toolResult" {
			fresh = append(fresh, i)
		}
	}
	sum := d.usage
	r := lineReader{doc: d, reuse: true}
	err := r.each(fresh, func(i int, raw []byte) error {
		var values [3][]byte
		rawjson.Pick(raw, "message", usageNames, values[:])
		usage, tool, details := values[0], values[1], values[2]
		if d.tree.role(i) == "assistant" {
			sum.add(usage)
		} else if name, _ := rawjson.String(tool); name == "task" {
			sum.add(rawjson.Get(details, "usage"))
		}
		return nil
	})
	if err != nil {
		return Usage{}, err
	}
	d.usage, d.summed = sum, d.Len()
	return sum, nil
}

// amountNames are the members of an answer's usage: four kinds of tokens, their sum, and
// the money.
var amountNames = []string{"input", "output", "cacheRead", "cacheWrite", "totalTokens", "cost"}

func (u *Usage) add(v []byte) {
	var values [6][]byte
	rawjson.GetEach(v, amountNames, values[:])
	total, cost := values[4], values[5]
	for i, sum := range []*float64{&u.Input, &u.Output, &u.CacheRead, &u.CacheWrite} {
		n := amount(values[i])
		*sum += n
		if total == nil {
			u.TotalTokens += n
		}
	}
	u.TotalTokens += amount(total)
	u.Cost += amount(rawjson.Get(cost, "total"))
}

// maxAmount is far above any sum of tokens or money. Numbers come from a file, and an
// infinite sum could not be written as JSON.
const maxAmount = 1e15

// amount reads a number of tokens or dollars; any other value counts as zero.
func amount(v []byte) float64 {
	n, ok := rawjson.Float(v)
	if !ok || n < -maxAmount || n > maxAmount {
		return 0
	}
	return n
}
