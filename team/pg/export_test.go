package pg

import "context"

// Step is a step of an upgrade.
type Step struct {
	SQL   string
	Alone []string
}

// UpgradeWith upgrades by other steps than those of the program.
func UpgradeWith(ctx context.Context, c Config, list ...Step) (from, to int, err error) {
	steps := make([]step, len(list))
	for i, s := range list {
		steps[i] = step{s.SQL, s.Alone}
	}
	return upgrade(ctx, c, steps)
}
