package guard

import (
	"encoding/json"
	"strings"
	"time"
)

// details are the facts that Google adds to an error. Its text is the same for a limit per minute,
// which passes, and one per day.
type details struct {
	delay time.Duration // before another try; 0: not given
	daily bool          // the account has used up what it may use in a day
}

// parseDetails reads the details of an error, if they have Google's form.
func parseDetails(raw json.RawMessage) (d details) {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		return details{}
	}
	for _, item := range list {
		var o struct {
			RetryDelay string `json:"retryDelay"` // such as 34.5s
			Violations []struct {
				QuotaID string `json:"quotaId"`
			} `json:"violations"`
		}
		if json.Unmarshal(item, &o) != nil {
			continue
		}
		if delay, err := time.ParseDuration(o.RetryDelay); err == nil {
			d.delay = max(d.delay, delay)
		}
		for _, v := range o.Violations {
			d.daily = d.daily || strings.Contains(v.QuotaID, "PerDay")
		}
	}
	return d
}

// passing reports whether the limit is one that passes soon.
func (d details) passing() bool { return d.delay > 0 && !d.daily }
