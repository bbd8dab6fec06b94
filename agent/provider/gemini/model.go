package gemini

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
)

// signing is the first generation of Gemini that signs its tool calls and numbers them, takes images
// in the results of tools, and has levels of thinking in place of budgets.
const signing = 3

var numbered = regexp.MustCompile(`gemini-(?:live-)?(\d{1,3})`)

// generation returns the major version of a Gemini model. An id without a number, such as
// gemini-flash-latest, is that of the newest model. 0 is not Gemini.
func generation(id string) int {
	id = strings.ToLower(id)
	if m := numbered.FindStringSubmatch(id); m != nil {
		n, _ := strconv.Atoi(m[1]) // at most three digits
		return n
	}
	if strings.Contains(id, "gemini-") {
		return signing
	}
	return 0
}

// leveled reports whether the model has levels of thinking in place of budgets.
func leveled(m provider.Model) bool {
	return len(m.ThinkingLevelMap) > 0 || generation(m.ID) >= signing || gemma4.MatchString(m.ID)
}

var gemma4 = regexp.MustCompile(`(?i)gemma-?4`)
