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

// CostOf returns the cost in US dollars that a message with this envelope adds to the usage of its session.
func CostOf(env rawjson.Envelope) float64 {
	role, _ := rawjson.String(env.Role)
	return tallyLine(&env, role).usage.cost
}

// Usage returns the usage of [Document.Tally]. Answers without usage count as zero.
func (d *Document) Usage() (Usage, error) {
	t, err := d.Tally()
	return t.Usage, err
}

// amounts is the usage of one answer.
type amounts struct {
	kinds  [4]float64 // input, output, cacheRead, cacheWrite
	total  float64    // their sum as it is recorded, …
	summed bool       // … or is not recorded
	cost   float64
}

// amountNames are the members of an answer's usage: four kinds of tokens, their sum, and
// the money.
var amountNames = []string{"input", "output", "cacheRead", "cacheWrite", "totalTokens", "cost"}

// amountsOf reads the usage of an answer. Another value is no usage.
func amountsOf(v []byte) (a amounts) {
	var values [6][]byte
	rawjson.GetEach(v, amountNames, values[:])
	for i := range a.kinds {
		a.kinds[i] = amount(values[i])
	}
	a.total, a.summed = amount(values[4]), values[4] == nil
	a.cost = amount(rawjson.Get(values[5], "total"))
	return a
}

// add adds the usage of an answer. The order of the additions is part of the result: they are floats.
func (u *Usage) add(a amounts) {
	for i, sum := range []*float64{&u.Input, &u.Output, &u.CacheRead, &u.CacheWrite} {
		*sum += a.kinds[i]
		if a.summed {
			u.TotalTokens += a.kinds[i]
		}
	}
	u.TotalTokens += a.total
	u.Cost += a.cost
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
