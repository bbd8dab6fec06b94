package agent

import (
	"maps"

	"github.com/xcsh-ls/xcsh-ls/agent/provider/tier"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// serviceTier is the type of the entries that record service tiers.
const serviceTier session.Type = "service_tier_change"

// tiers returns the service tiers of a session: those it records, else the user's own defaults.
func (s *Session) tiers(log *session.Log) (tier.Tiers, error) {
	t, recorded, err := recordedTiers(log)
	if err != nil || recorded {
		return t, err
	}
	if t = maps.Clone(s.preferences(log).Tiers); t == nil {
		t = tier.Tiers{}
	}
	return t, nil
}

// recordedTiers returns the tiers of the newest entry about them. pi knows none, and its contexts have none,
// but an entry that another program wrote into a file of pi counts here.
func recordedTiers(log *session.Log) (t tier.Tiers, recorded bool, err error) {
	err = log.View(func(d *session.Document, leaf session.Leaf) error {
		for i, typ := range d.Recent(leaf) {
			if typ != serviceTier {
				continue
			}
			e, err := d.Entry(i)
			t, recorded = tier.Parse(rawjson.Get(e.Raw, "serviceTier"), d.Dialect() == session.Omp), true
			return err
		}
		return nil
	})
	return t, recorded, err
}

// withTiers fills in the service tiers.
func (s *Session) withTiers(log *session.Log, state State) (State, error) {
	t, err := s.tiers(log)
	if len(t) > 0 {
		state.ServiceTiers = t
	}
	return state, err
}
