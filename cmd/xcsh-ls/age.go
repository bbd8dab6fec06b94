package main

import (
	"fmt"
	"strconv"
	"time"
)

const day = 24 * time.Hour

// maxAgeDays is the maximum age, so that it fits into a time.Duration.
const maxAgeDays = 100_000

// ageUnits are the units of an age; a number alone means days.
var ageUnits = map[byte]time.Duration{'h': time.Hour, 'd': day, 'w': 7 * day}

// parseAge returns the age that a flag gives.
func parseAge(flag, text string) (time.Duration, error) {
	number, unit := text, day
	if n := len(text); n > 0 {
		if u, ok := ageUnits[text[n-1]]; ok {
			number, unit = text[:n-1], u
		}
	}
	n, err := strconv.Atoi(number)
	if err != nil || n < 0 || time.Duration(n) > maxAgeDays*day/unit {
		return 0, invalidValue(flag, text, fmt.Sprintf("a number of days up to %d, or hours (12h), days (30d) or weeks (6w)", maxAgeDays))
	}
	return time.Duration(n) * unit, nil
}
