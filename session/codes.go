package session

import "slices"

// otherCode stands for a text without a code.
const otherCode = 255

// codes numbers the texts that are common, the most common ones first, so that the
// index keeps a byte for each. The code 0 is that of the empty text.
type codes[T ~string] []T

func newCodes[T ~string](texts ...T) codes[T] { return slices.Concat(codes[T]{""}, texts) }

func (c codes[T]) code(text T) uint8 {
	if n := slices.Index(c, text); n >= 0 {
		return uint8(n)
	}
	return otherCode
}

// rawCode is the code of a JSON string without escapes. Any other value has none.
func (c codes[T]) rawCode(raw []byte) uint8 {
	text := unquoted(raw)
	for n, t := range c[1:] {
		if string(text) == string(t) {
			return uint8(n + 1)
		}
	}
	return otherCode
}

var typeCodes = newCodes(
	TypeMessage, TypeModelChange, TypeThinkingLevel, TypeServiceTier, TypeContextChange, TypeMCPToolSelection,
	TypeCompaction, TypeBranchSummary, TypeCustom, TypeCustomMessage, TypeLabel, TypeTTSRInjection, TypeSessionInit,
	TypeModeChange, TypeSessionInfo, TypeContextEdit, TypeUsage, TypeModelUsage, TypeResetBoundary, TypeTitleChange,
	TypeCredentialPin, typeSession,
)

var messageCode = typeCodes.code(TypeMessage)

var roleCodes = newCodes("toolResult", "assistant", "user", "system", "developer", "bashExecution", "pythonExecution",
	"custom", "fileMention")

// internType returns a type that shares its text with all others of the common ones.
func internType(s string) Type {
	if n := typeCodes.code(Type(s)); n != otherCode {
		return typeCodes[n]
	}
	return Type(s)
}
